/* SPDX-License-Identifier: MIT */
/* Paths of a capture's files, and the space that they take (file.h). */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/uio.h>

#include "runtime/files/file.h"
#include "runtime/sys/sys.h"

#define ZEROS_PARTS 32

char *gm_path_new(const char *dir, const char *name)
{
	char *path = gm_sys_mmap(GM_PATH_MAX, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct gm_text text = {path, GM_PATH_MAX, 0};

	if (path != NULL) {
		gm_text_add(&text, dir);
		gm_text_add(&text, "/");
		gm_text_add(&text, name);
	}
	return path;
}

void gm_path_free(char *path)
{
	if (path != NULL)
		gm_sys_munmap(path, GM_PATH_MAX);
}

const char gm_zeros[GM_ZEROS_BYTES];

int gm_file_zeros(int fd, uint64_t offset, uint64_t size_bytes)
{
	while (size_bytes > 0) {
		struct iovec parts[ZEROS_PARTS];
		unsigned n_parts = 0;
		uint64_t rest = size_bytes;
		long written;

		while (rest > 0 && n_parts < ZEROS_PARTS) {
			uint64_t n = rest < sizeof(gm_zeros) ? rest : sizeof(gm_zeros);

			parts[n_parts++] = (struct iovec){(void *)gm_zeros, n};
			rest -= n;
		}
		written = gm_syscall6(SYS_pwritev, fd, (long)parts, n_parts, (long)offset, 0, 0);
		if (written <= 0)
			return written < 0 ? (int)written : -ENOSPC;
		offset += (uint64_t)written;
		size_bytes -= (uint64_t)written;
	}
	return 0;
}

bool gm_file_may_reach(uint64_t end_bytes)
{
	uint64_t limit[2] = {0, 0};

	gm_syscall6(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)limit, 0, 0);
	return end_bytes <= limit[0];
}

uint16_t gm_loss_of(long code)
{
	switch (code) {
	case -ENOSPC:
	case -EDQUOT:
		return GM_LOSS_DISK;
	case -EFBIG:
		return GM_LOSS_FILE_LIMIT;
	case -ENOMEM:
		return GM_LOSS_MEMORY;
	case -EDEADLK:
		return GM_LOSS_COUNTING_ONLY;
	case -ETIMEDOUT:
		return GM_LOSS_STALLED;
	default:
		return GM_LOSS_FILE;
	}
}

int gm_file_reserve(int fd, uint64_t offset, uint64_t size_bytes)
{
	long result;

	if (!gm_file_may_reach(offset + size_bytes))
		return -EFBIG;
	do
		result = gm_syscall6(SYS_fallocate, fd, 0, (long)offset, (long)size_bytes, 0, 0);
	while (result == -EINTR);
	if (result == -EOPNOTSUPP || result == -ENOSYS)
		result = gm_file_zeros(fd, offset, size_bytes);
	return (int)result;
}

long gm_write_quietly(int fd, const void *bytes, size_t n)
{
	/* In the library's memory, as in gm_signals_block(). */
	static const uint64_t set = 1ull << (SIGPIPE - 1) | 1ull << (SIGXFSZ - 1);
	const struct timespec at_once = {0, 0};
	uint64_t mask, before = 0, after = 0;
	long written;

	gm_syscall6(SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, (long)&mask, 8, 0, 0);
	gm_syscall3(SYS_rt_sigpending, (long)&before, 8, 0);
	written = gm_sys_write(fd, bytes, n);
	gm_syscall3(SYS_rt_sigpending, (long)&after, 8, 0);
	after &= set & ~before;
	if (after != 0)
		gm_syscall6(SYS_rt_sigtimedwait, (long)&after, 0, (long)&at_once, 8, 0, 0);
	gm_syscall6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, 8, 0, 0);
	return written;
}
