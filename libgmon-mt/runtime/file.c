/* SPDX-License-Identifier: MIT */
/*
 * Files of a capture folder that are mapped while the program runs, and the small helpers of
 * runtime.h that touch no state.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/uio.h>

#include "runtime/files.h"
#include "runtime/kept.h"
#include "runtime/runtime.h"
#include "runtime/sys.h"

#define ZEROS_PARTS 32

uint64_t gm_clock_ns(void)
{
	return gm_sys_clock_ns(CLOCK_MONOTONIC);
}

void gm_signals_block(uint64_t *ret_mask)
{
	uint64_t all = ~GM_SIGNALS_FORCED;

	gm_syscall6(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, (long)&all, (long)ret_mask, 8, 0, 0);
}

void gm_signals_unblock_left(uint64_t before)
{
	uint64_t now;

	gm_syscall6(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&now, 8, 0, 0);
	if ((now | GM_SIGNALS_FORCED | GM_SIGNAL_BIT(SIGKILL) | GM_SIGNAL_BIT(SIGSTOP)) ==
	    ~(uint64_t)0)
		gm_signals_restore(before | (now & GM_SIGNALS_FORCED));
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

struct extent {
	bool exists; /* all of it: nothing is to be reserved */
	const char *dir, *name, *path;
	uint64_t offset, size_bytes;
	void *mapping;
};

static long extent_step(void *arg)
{
	struct extent *extent = arg;
	bool is_new = extent->offset == 0 && !extent->exists;
	int fd =
	    gm_sys_open(extent->path, O_RDWR | O_NOFOLLOW | (is_new ? O_CREAT | O_EXCL : 0), 0600);
	int code = fd;

	if (fd < 0)
		return code;
	if (gm_kept_is_on()) {
		code = gm_kept_map(fd, extent->dir, extent->name, extent->offset,
				   extent->size_bytes, &extent->mapping);
	} else if (extent->exists ||
		   (code = gm_file_reserve(fd, extent->offset, extent->size_bytes)) == 0) {
		extent->mapping = gm_sys_mmap(extent->size_bytes, MAP_SHARED, fd, extent->offset);
		code = extent->mapping != NULL ? 0 : -ENOMEM;
	}
	gm_sys_close(fd);
	if (code < 0 && is_new)
		gm_sys_unlink(extent->path);
	return code;
}

static int extent_map(struct extent *extent, const char *dir, const char *name, void **ret_mapping)
{
	char *path = gm_path_new(dir, name);
	long code = -ENOMEM;

	extent->dir = dir;
	extent->name = name;
	extent->path = path;
	if (path != NULL)
		code = gm_files_run(extent_step, extent);
	gm_path_free(path);
	if (code == 0)
		*ret_mapping = extent->mapping;
	return (int)code;
}

int gm_file_map(const char *dir, const char *name, uint64_t offset, size_t size_bytes,
		void **ret_mapping)
{
	struct extent extent = {.offset = offset, .size_bytes = size_bytes};

	return extent_map(&extent, dir, name, ret_mapping);
}

int gm_file_map_again(const char *dir, const char *name, size_t size_bytes, void **ret_mapping)
{
	struct extent extent = {.exists = true, .size_bytes = size_bytes};

	return extent_map(&extent, dir, name, ret_mapping);
}

struct cut {
	char *path;
	uint64_t size_bytes;
};

static long cut_step(void *arg)
{
	const struct cut *cut = arg;
	int fd = gm_sys_open(cut->path, O_WRONLY | O_NOFOLLOW, 0);

	if (fd < 0)
		return fd;
	gm_sys_ftruncate(fd, cut->size_bytes);
	gm_sys_close(fd);
	return 0;
}

void gm_file_cut(const char *dir, const char *name, uint64_t size_bytes)
{
	struct cut cut = {gm_path_new(dir, name), size_bytes};

	if (cut.path != NULL)
		gm_files_run(cut_step, &cut);
	gm_path_free(cut.path);
}
