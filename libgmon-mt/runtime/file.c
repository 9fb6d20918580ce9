/* SPDX-License-Identifier: MIT */
/*
 * Files of a capture folder that are mapped while the program runs, and the small helpers of
 * runtime.h that touch no state.
 */
#include <errno.h>
#include <sys/resource.h>

#include "runtime/runtime.h"
#include "runtime/sys.h"

uint64_t gm_clock_ns(void)
{
	return gm_sys_clock_ns(CLOCK_MONOTONIC);
}

void gm_signals_block(uint64_t *ret_mask)
{
	uint64_t all = ~(uint64_t)0;

	gm_syscall6(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, (long)&all, (long)ret_mask, 8, 0, 0);
}

void gm_signals_restore(uint64_t mask)
{
	gm_syscall6(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&mask, 0, 8, 0, 0);
}

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

/* For file systems without fallocate(): a written byte in each block reserves it. */
static int reserve_by_writing(int fd, uint64_t offset, uint64_t size_bytes)
{
	static const char zeros[4096];

	while (size_bytes > 0) {
		uint64_t n = size_bytes < sizeof(zeros) ? size_bytes : sizeof(zeros);
		long written =
		    gm_syscall6(SYS_pwrite64, fd, (long)zeros, (long)n, (long)offset, 0, 0);

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

uint8_t gm_loss_of(long code)
{
	switch (code) {
	case -ENOSPC:
	case -EDQUOT:
		return GM_LOSS_DISK;
	case -EFBIG:
		return GM_LOSS_FILE_LIMIT;
	case -ENOMEM:
		return GM_LOSS_MEMORY;
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
		result = reserve_by_writing(fd, offset, size_bytes);
	return (int)result;
}

int gm_file_map(const char *dir, const char *name, size_t size_bytes, void **ret_mapping)
{
	char *path = gm_path_new(dir, name);
	void *mapping = NULL;
	int code, fd;

	if (path == NULL)
		return -ENOMEM;
	code = fd = gm_sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	if (fd >= 0) {
		code = gm_file_reserve(fd, 0, size_bytes);
		if (code == 0) {
			mapping = gm_sys_mmap(size_bytes, MAP_SHARED, fd, 0);
			code = mapping != NULL ? 0 : -ENOMEM;
		}
		gm_sys_close(fd);
		if (code < 0)
			gm_sys_unlink(path);
	}
	gm_path_free(path);
	if (code == 0)
		*ret_mapping = mapping;
	return code;
}
