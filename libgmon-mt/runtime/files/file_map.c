/* SPDX-License-Identifier: MIT */
/*
 * Files of a capture folder that are mapped while the program runs (file.h): opened, made and cut
 * by a step of helper_task.h, and kept in memory where a store to them may find no room
 * (files_in_memory.h).
 */
#include <errno.h>

#include "runtime/files/file.h"
#include "runtime/files/helper_task.h"
#include "runtime/files/files_in_memory.h"
#include "runtime/sys/sys.h"

struct extent {
	bool exists; /* the file has all bytes: reserve none */
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
