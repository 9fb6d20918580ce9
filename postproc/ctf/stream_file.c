/* SPDX-License-Identifier: MIT */
/* Keeps files open up to a share of the limit of open files, and opens the others for each read. */
#include "ctf/stream_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/progress.h"

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

uint64_t pp_stream_files_bytes(const GPtrArray *paths)
{
	uint64_t bytes = 0;

	for (guint i = 0; i < paths->len; i++) {
		struct stat st;

		if (stat(paths->pdata[i], &st) == 0 && S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	}
	return bytes;
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
	bool is_kept = file->kept_fd >= 0;
	int fd = is_kept ? file->kept_fd : open_regular(file->path, &now_bytes);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = pread(fd, buffer, n_bytes, (off_t)at);
	if (!is_kept)
		close(fd);
	if (n > 0)
		pp_progress_add((uint64_t)n);
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
