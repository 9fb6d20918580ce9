/* SPDX-License-Identifier: MIT */
/*
 * With `sync.mode = contended`, operations that did not wait are not written but counted, by thread
 * and function, in the file `sync-counts`. It has a row for each thread of the thread table and is
 * mapped, so counts survive SIGKILL.
 *
 * A thread without a row (no room on the disk) is recorded in full. All functions run with signals
 * blocked.
 */
#include <errno.h>

#include "record/internal.h"
#include "sums/rows.h"
#include "runtime/process/process.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/sys.h"

#define ROW_BYTES (ST_COUNTED_MAX * sizeof(uint64_t))

enum { LATE_NOT, LATE_WANTED, LATE_MAKING };

static uint32_t late; /* LATE_...: whether the file is made later */
static GM_LARGE uint8_t *segments[ST_SEGMENTS_MAX];
/* Without a header, everything is recorded. */
static struct st_rows rows = {ST_COUNTS_FILE, ST_COUNTS_MAGIC, ROW_BYTES, segments, NULL, NULL};

bool st_counts_open(const char *dir, bool is_auto)
{
	uint32_t flags = ST_COUNTS_HOLDS;

	if (is_auto)
		flags |= ST_COUNTS_AUTO;
	if (st_times_holds)
		flags |= ST_COUNTS_TIMED;
	if (st_process_sink() == GM_SINK_NATIVE)
		flags |= ST_COUNTS_TRIES;
	/* Before any thread gets a row of counts; without the file all times count as lost. */
	if (st_times_holds)
		st_timed_open(dir, &rows.header);
	return st_rows_open(&rows, dir, flags);
}

void st_counts_forget(void)
{
	st_rows_forget(&rows);
	st_timed_forget();
}

uint64_t *st_counts_row(uint32_t index)
{
	return st_rows_at(&rows, index);
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
