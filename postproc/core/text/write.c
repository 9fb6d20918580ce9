/* SPDX-License-Identifier: MIT */
/* See write.h. */
#include "core/text/write.h"

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#define AT_POSITION ((off_t)-1)

static int write_loop(int fd, const char *bytes, size_t left, off_t at)
{
	while (left) {
		ssize_t n =
		    at == AT_POSITION ? write(fd, bytes, left) : pwrite(fd, bytes, left, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		bytes += n;
		left -= (size_t)n;
		at += at == AT_POSITION ? 0 : n;
	}
	return 0;
}

int pp_write_all(int fd, const void *bytes, size_t n_bytes)
{
	return write_loop(fd, bytes, n_bytes, AT_POSITION);
}

int pp_write_all_at(int fd, const void *bytes, size_t n_bytes, off_t at)
{
	return at < 0 ? -EINVAL : write_loop(fd, bytes, n_bytes, at);
}
