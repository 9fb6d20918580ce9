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
#include "runtime/runtime.h"
#include "runtime/sys.h"

#define SEGMENT_ROWS  256u
#define ROW_BYTES     (ST_COUNTED_MAX * sizeof(uint64_t))
#define SEGMENT_BYTES (SEGMENT_ROWS * ROW_BYTES)
#define SEGMENTS_MAX  4096u
#define HEADER_BYTES  4096u

_Static_assert(SEGMENT_BYTES % 4096 == 0, "segments are mapped on their own");

static struct st_counts_header *header; /* NULL: everything is recorded */
static char *path;
static uint8_t *segments[SEGMENTS_MAX];

bool st_counts_open(const char *dir)
{
	void *mapping;

	if (path == NULL)
		path = gm_path_new(dir, ST_COUNTS_FILE);
	if (path == NULL || gm_file_map(dir, ST_COUNTS_FILE, HEADER_BYTES, &mapping) != 0)
		return false;
	header = mapping;
	header->schema = GM_CAPTURE_SCHEMA;
	header->header_bytes = HEADER_BYTES;
	header->row_bytes = ROW_BYTES;
	/* release: a file with the magic has all of its header */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__builtin_memcpy(header->magic, ST_COUNTS_MAGIC, sizeof(header->magic));
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
		gm_sys_munmap(header, HEADER_BYTES);
	gm_path_free(path);
	header = NULL;
	path = NULL;
}

static uint8_t *segment_map(unsigned number)
{
	uint64_t offset = HEADER_BYTES + (uint64_t)number * SEGMENT_BYTES;
	int fd = gm_sys_open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
	uint8_t *segment = NULL, *others = NULL;

	if (fd < 0)
		return NULL;
	if (gm_file_reserve(fd, offset, SEGMENT_BYTES) == 0)
		segment = gm_sys_mmap(SEGMENT_BYTES, MAP_SHARED, fd, offset);
	gm_sys_close(fd);
	/* acq_rel: pairs with the acquire in st_counts_row() */
	if (segment != NULL &&
	    !__atomic_compare_exchange_n(&segments[number], &others, segment, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		gm_sys_munmap(segment, SEGMENT_BYTES);
		segment = others;
	}
	return segment;
}

uint64_t *st_counts_row(uint32_t index)
{
	unsigned number = index / SEGMENT_ROWS;
	uint8_t *segment;
	uint32_t n_rows;

	if (header == NULL || number >= SEGMENTS_MAX)
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
