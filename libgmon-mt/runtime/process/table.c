/* SPDX-License-Identifier: MIT */
/*
 * The file of the thread table (table.h).
 *
 * If the table is mapped, each library maps the file for itself. If it is kept in memory
 * (files_in_memory.h), both share it through the identity of the process (children.h); it is shared
 * memory, where a child may note that it could not open the capture. It is never unmapped in a
 * child, since neither library knows whether the other still uses it.
 */
#include <errno.h>

#include "runtime/files/file.h"
#include "runtime/files/helper_task.h"
#include "runtime/files/files_in_memory.h"
#include "runtime/process/children.h"
#include "runtime/process/table.h"
#include "runtime/process/threads.h"
#include "runtime/sys/sys.h"

#define HEAD_BYTES offsetof(struct gm_threads_header, bucket)

static void *map(size_t size_bytes, int fd)
{
	bool kept = gm_kept_is_on();

	return gm_sys_mmap(size_bytes, MAP_SHARED | (kept ? MAP_ANONYMOUS : 0), kept ? -1 : fd, 0);
}

/* Returns false if the other library has made one. */
static bool share(struct gm_threads_header *header)
{
	struct gm_identity *identity = gm_identity_begin();
	struct gm_threads_header *none = NULL;
	struct gm_thread_slot **others = NULL;
	const size_t size_bytes = GM_SEGMENTS_MAX * sizeof(void *);
	void *segments = gm_sys_mmap(size_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (segments == NULL)
		return false;
	header->n_in_memory = GM_FILES_IN_MEMORY;
	/* If the first library has made segments, they stay: they may be in use already. */
	if (!__atomic_compare_exchange_n(&identity->segments, &others, segments, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		gm_sys_munmap(segments, size_bytes);
	/* release: pairs with the acquire in gm_table_join() */
	return __atomic_compare_exchange_n(&identity->table, &none, header, false, __ATOMIC_RELEASE,
					   __ATOMIC_RELAXED);
}

static int make(int fd, struct gm_threads_header **ret_header)
{
	struct gm_threads_header *header;
	int code;

	gm_kept_look(fd);
	code = gm_file_reserve(fd, 0, GM_THREADS_FIRST_BYTES);
	if (code < 0)
		return code;
	header = map(GM_THREADS_FIRST_BYTES, fd);
	if (header == NULL)
		return -ENOMEM;
	if (gm_kept_is_on() && !share(header)) {
		gm_sys_munmap(header, GM_THREADS_FIRST_BYTES);
		return -EBUSY;
	}
	*ret_header = header;
	return 0;
}

int gm_table_make(const char *dir, struct gm_threads_header **ret_header)
{
	char *path = gm_path_new(dir, "threads");
	int fd = -ENOMEM, code;

	if (path != NULL)
		fd = gm_sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	code = fd;
	if (fd >= 0) {
		code = make(fd, ret_header);
		gm_sys_close(fd);
		if (code < 0)
			gm_sys_unlink(path);
	}
	gm_path_free(path);
	return code;
}

void gm_table_unmap(void *mapping, size_t size_bytes)
{
	if (!gm_kept_is_on())
		gm_sys_munmap(mapping, size_bytes);
}

void gm_table_drop(struct gm_threads_header *header)
{
	if (gm_kept_is_on())
		__atomic_store_n(&gm_identity_begin()->table, NULL, __ATOMIC_RELAXED);
	gm_sys_munmap(header, GM_THREADS_FIRST_BYTES);
}

struct gm_threads_header *gm_table_join(void)
{
	gm_kept_set(true);
	return __atomic_load_n(&gm_identity_begin()->table, __ATOMIC_ACQUIRE);
}

int gm_table_segment(unsigned number, struct gm_thread_slot **ret_segment)
{
	struct gm_thread_slot **place = &gm_identity_begin()->segments[number];
	struct gm_thread_slot *segment = __atomic_load_n(place, __ATOMIC_ACQUIRE), *others = NULL;

	if (segment == NULL) {
		segment = map(GM_SEGMENT_BYTES, -1);
		if (segment == NULL)
			return -ENOMEM;
		/* acq_rel: the first segment stored is the one that both libraries use */
		if (!__atomic_compare_exchange_n(place, &others, segment, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE)) {
			gm_sys_munmap(segment, GM_SEGMENT_BYTES);
			segment = others;
		}
	}
	*ret_segment = segment;
	return 0;
}

/* --- writing it --------------------------------------------------------------------------- */

static uint64_t slot_at(uint32_t index)
{
	return GM_THREADS_HEADER_BYTES + (uint64_t)index * sizeof(struct gm_thread_slot);
}

static int open_table(const char *dir)
{
	char *path = gm_path_new(dir, "threads");
	int fd = path != NULL ? gm_sys_open(path, O_WRONLY | O_NOFOLLOW, 0) : -ENOMEM;

	gm_path_free(path);
	return fd;
}

long gm_table_save(const char *dir, const struct gm_threads_header *header)
{
	struct gm_thread_slot *const *segments = gm_identity_begin()->segments;
	int fd = open_table(dir);
	uint64_t written;
	long code = fd;

	if (fd < 0)
		return code;
	/* The header is written last: it marks the table as complete. */
	for (unsigned i = 1; i < GM_SEGMENTS_MAX && segments[i] != NULL && code >= 0; i++)
		code = gm_pwrite_all(fd, segments[i], GM_SEGMENT_BYTES,
				     slot_at(i * GM_SEGMENT_SLOTS), &written);
	if (code >= 0)
		code = gm_pwrite_all(fd, (const char *)header + GM_THREADS_HEADER_BYTES,
				     GM_SEGMENT_BYTES, GM_THREADS_HEADER_BYTES, &written);
	if (code >= 0)
		code = gm_pwrite_all(fd, header, sizeof(*header), 0, &written);
	gm_sys_close(fd);
	return code;
}

struct save {
	const char *dir;
	uint32_t index;
	const struct gm_thread_slot *slot;
};

static long save_slot_step(void *arg)
{
	const struct save *save = arg;
	const struct gm_threads_header *header = gm_identity_begin()->table;
	int fd = open_table(save->dir);
	uint64_t written;

	if (fd < 0)
		return fd;
	gm_pwrite_all(fd, save->slot, sizeof(*save->slot), slot_at(save->index), &written);
	if (header != NULL)
		gm_pwrite_all(fd, header, HEAD_BYTES, 0, &written);
	gm_sys_close(fd);
	return 0;
}

void gm_table_save_slot(const char *dir, uint32_t index, const struct gm_thread_slot *slot)
{
	struct save save = {dir, index, slot};

	if (gm_kept_is_on())
		gm_files_run(save_slot_step, &save);
}
