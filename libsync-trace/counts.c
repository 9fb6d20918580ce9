/* SPDX-License-Identifier: MIT */
/*
 * With `sync.mode = contended`, operations that did not wait are not written but counted, by thread
 * and function, in the file `sync-counts`: a row for each thread of the thread table, mapped, so
 * that a count once made is safe from SIGKILL.
 *
 * A thread without a row (no room on the disk) is recorded in full.  Rows are mapped in segments
 * that stay until the process ends.  Signals are blocked here.
 */
#include <errno.h>

#include "internal.h"
#include "runtime/kept.h"
#include "runtime/runtime.h"
#include "runtime/sys.h"

#define SEGMENT_ROWS  256u
#define ROW_BYTES     (ST_COUNTED_MAX * sizeof(uint64_t))
#define SEGMENT_BYTES (SEGMENT_ROWS * ROW_BYTES)
#define SEGMENTS_MAX  4096u
#define HEADER_BYTES  4096u

_Static_assert(SEGMENT_BYTES % 4096 == 0, "segments are mapped on their own");

enum { LATE_NOT, LATE_WANTED, LATE_MAKING };

static struct st_counts_header *header; /* NULL: everything is recorded */
static uint32_t late;			/* LATE_...: is the file to be made later? */
static const char *directory;		/* where the file is */
static GM_LARGE uint8_t *segments[SEGMENTS_MAX];

bool st_counts_open(const char *dir, bool is_auto)
{
	struct st_counts_header *made;
	void *mapping;

	if (gm_file_map(dir, ST_COUNTS_FILE, 0, HEADER_BYTES, &mapping) != 0)
		return false;
	directory = dir;
	made = mapping;
	made->schema = GM_CAPTURE_SCHEMA;
	made->header_bytes = HEADER_BYTES;
	made->row_bytes = ROW_BYTES;
	made->flags = ST_COUNTS_HOLDS | (is_auto ? ST_COUNTS_AUTO : 0);
	/* release: a file with the magic has all of its header */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__builtin_memcpy(made->magic, ST_COUNTS_MAGIC, sizeof(made->magic));
	/* release: pairs with the acquire in st_counts_row() */
	__atomic_store_n(&header, made, __ATOMIC_RELEASE);
	return true;
}

void st_counts_forget(void)
{
	for (unsigned i = 0; i < SEGMENTS_MAX && header != NULL; i++) {
		/* Code that the forking handler interrupted may be about to count there. */
		if (segments[i] != NULL)
			gm_syscall6(SYS_mmap, (long)segments[i], SEGMENT_BYTES,
				    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
				    -1, 0);
		segments[i] = NULL;
	}
	if (header != NULL)
		gm_file_unmap(header, HEADER_BYTES);
	header = NULL;
}

static uint8_t *segment_map(unsigned number)
{
	uint64_t offset = HEADER_BYTES + (uint64_t)number * SEGMENT_BYTES;
	uint8_t *segment, *others = NULL;
	void *mapping;

	if (gm_file_map(directory, ST_COUNTS_FILE, offset, SEGMENT_BYTES, &mapping) != 0)
		return NULL;
	segment = mapping;
	/* acq_rel: pairs with the acquire in st_counts_row() */
	if (!__atomic_compare_exchange_n(&segments[number], &others, segment, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		gm_file_unmap(segment, SEGMENT_BYTES);
		segment = others;
	}
	return segment;
}

uint64_t *st_counts_row(uint32_t index)
{
	unsigned number = index / SEGMENT_ROWS;
	uint8_t *segment;
	uint32_t n_rows;

	if (__atomic_load_n(&header, __ATOMIC_ACQUIRE) == NULL || number >= SEGMENTS_MAX)
		return NULL;
	segment = __atomic_load_n(&segments[number], __ATOMIC_ACQUIRE);
	if (segment == NULL)
		segment = segment_map(number);
	if (segment == NULL)
		return NULL;
	n_rows = __atomic_load_n(&header->n_rows, __ATOMIC_RELAXED);
	while (n_rows <= index &&
	       !__atomic_compare_exchange_n(&header->n_rows, &n_rows, index + 1, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return (uint64_t *)(segment + (index % SEGMENT_ROWS) * ROW_BYTES);
}

void st_counts_open_late(bool later)
{
	__atomic_store_n(&late, later ? LATE_WANTED : LATE_NOT, __ATOMIC_RELAXED);
}

uint64_t *st_counts_row_late(uint32_t index)
{
	uint32_t seen = LATE_WANTED;
	uint64_t mask, *row;

	gm_signals_block(&mask);
	if (__atomic_compare_exchange_n(&late, &seen, LATE_MAKING, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED)) {
		bool made = gm_process_folder() == 0 && st_counts_open(gm_process_get()->dir, true);

		__atomic_store_n(&late, made ? LATE_NOT : LATE_WANTED, __ATOMIC_RELEASE);
	}
	row = st_counts_row(index);
	gm_signals_restore(mask);
	return row;
}
