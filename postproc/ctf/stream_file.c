/* SPDX-License-Identifier: MIT */
/* Keeps files open up to a share of the limit of open files, and opens the others for each read. */
#include "ctf/stream_file.h"

#include <fcntl.h>
#include <glib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The limit applies to the process: readers of two captures share it. */
static gint n_kept;

void pp_stream_files_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Half of the limit is left to Babeltrace, debug information and output files. */
static bool may_keep(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return false;
	if ((rlim_t)g_atomic_int_add(&n_kept, 1) < limit.rlim_cur / 2)
		return true;
	g_atomic_int_add(&n_kept, -1);
	return false;
}

static int open_regular(const char *path, uint64_t *ret_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return -1;
	}
	*ret_bytes = (uint64_t)st.st_size;
	return fd;
}

bool pp_stream_file_open(struct pp_stream_file *file, const char *path)
{
	int fd = open_regular(path, &file->bytes);

	if (fd < 0)
		return false;
	file->path = path;
	file->kept_fd = may_keep() ? fd : -1;
	if (file->kept_fd < 0)
		close(fd);
	return true;
}

ssize_t pp_stream_file_read(const struct pp_stream_file *file, void *buffer, size_t n_bytes,
			    uint64_t at)
{
	uint64_t now_bytes;
	ssize_t n;
	int fd;

	if (file->kept_fd >= 0)
		return pread(file->kept_fd, buffer, n_bytes, (off_t)at);
	fd = open_regular(file->path, &now_bytes);
	if (fd < 0)
		return -1;
	n = pread(fd, buffer, n_bytes, (off_t)at);
	close(fd);
	return n;
}

void pp_stream_file_look(struct pp_stream_file *file)
{
	struct stat st;

	if ((file->kept_fd >= 0 ? fstat(file->kept_fd, &st) : stat(file->path, &st)) == 0)
		file->bytes = (uint64_t)st.st_size;
}

void pp_stream_file_close(struct pp_stream_file *file)
{
	if (file->path && file->kept_fd >= 0) {
		close(file->kept_fd);
		g_atomic_int_add(&n_kept, -1);
	}
	file->path = NULL;
}
