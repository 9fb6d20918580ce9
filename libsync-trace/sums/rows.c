/* SPDX-License-Identifier: MIT */
/* Files with a header and equal rows (rows.h). */
#include "sums/rows.h"

#include "record/internal.h"
#include "runtime/files/file.h"
#include "runtime/files/files_in_memory.h"
#include "runtime/sys/sys.h"

#define HEADER_BYTES 4096u

_Static_assert(ST_SEGMENT_BYTES % 4096 == 0, "segments are mapped on their own");

bool st_rows_open(struct st_rows *rows, const char *dir, uint32_t flags)
{
	struct st_counts_header *made;
	void *mapping;

	if (gm_file_map(dir, rows->name, 0, HEADER_BYTES, &mapping) != 0)
		return false;
	rows->dir = dir;
	made = mapping;
	made->schema = GM_CAPTURE_SCHEMA;
	made->header_bytes = HEADER_BYTES;
	made->row_bytes = rows->row_bytes;
	made->flags = flags;
	/* release: a file with the magic has a complete header */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__builtin_memcpy(made->magic, rows->magic, sizeof(made->magic));
	/* release: pairs with the acquire in st_rows_at() */
	__atomic_store_n(&rows->header, made, __ATOMIC_RELEASE);
	return true;
}

void st_rows_forget(struct st_rows *rows)
{
	for (unsigned i = 0; i < ST_SEGMENTS_MAX && rows->header != NULL; i++) {
		/* Code that the forking handler interrupted may be about to count there. */
		if (rows->segments[i] != NULL)
			gm_syscall6(SYS_mmap, (long)rows->segments[i], ST_SEGMENT_BYTES,
				    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
				    -1, 0);
		rows->segments[i] = NULL;
	}
	if (rows->header != NULL)
		gm_file_unmap(rows->header, HEADER_BYTES);
	rows->header = NULL;
}

static uint8_t *segment_map(struct st_rows *rows, unsigned number)
{
	uint64_t offset = HEADER_BYTES + (uint64_t)number * ST_SEGMENT_BYTES;
	uint8_t *segment, *others = NULL;
	void *mapping;

	if (gm_file_map(rows->dir, rows->name, offset, ST_SEGMENT_BYTES, &mapping) != 0)
		return NULL;
	segment = mapping;
	/* acq_rel: pairs with the acquire in st_rows_at() */
	if (!__atomic_compare_exchange_n(&rows->segments[number], &others, segment, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		gm_file_unmap(segment, ST_SEGMENT_BYTES);
		segment = others;
	}
	return segment;
}

void *st_rows_at(struct st_rows *rows, uint32_t index)
{
	uint32_t per_segment = ST_SEGMENT_BYTES / rows->row_bytes, n_rows;
	unsigned number = index / per_segment;
	uint8_t *segment;

	if (__atomic_load_n(&rows->header, __ATOMIC_ACQUIRE) == NULL || number >= ST_SEGMENTS_MAX)
		return NULL;
	segment = __atomic_load_n(&rows->segments[number], __ATOMIC_ACQUIRE);
	if (segment == NULL)
		segment = segment_map(rows, number);
	if (segment == NULL)
		return NULL;
	n_rows = __atomic_load_n(&rows->header->n_rows, __ATOMIC_RELAXED);
	while (n_rows <= index &&
	       !__atomic_compare_exchange_n(&rows->header->n_rows, &n_rows, index + 1, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return segment + (size_t)(index % per_segment) * rows->row_bytes;
}
