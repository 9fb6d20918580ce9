/* SPDX-License-Identifier: MIT */
/* Counters of the whole process; a reader of them may see one before the other has followed. */
#include "core/progress.h"

static unsigned n_readings, n_active;
static uint64_t read_sum_bytes, all_sum_bytes;

#define GET(from)      __atomic_load_n(&(from), __ATOMIC_RELAXED)
#define SET(to, value) __atomic_store_n(&(to), value, __ATOMIC_RELAXED)
#define ADD(to, n)     __atomic_fetch_add(&(to), n, __ATOMIC_RELAXED)

void pp_progress_begin(uint64_t all_bytes)
{
	if (ADD(n_active, 1) == 0) {
		SET(read_sum_bytes, 0);
		SET(all_sum_bytes, 0);
	}
	(void)ADD(all_sum_bytes, all_bytes);
	(void)ADD(n_readings, 1);
}

void pp_progress_end(void)
{
	(void)ADD(n_active, -1u);
}

void pp_progress_add(uint64_t read_bytes)
{
	(void)ADD(read_sum_bytes, read_bytes);
}

struct pp_progress pp_progress_now(void)
{
	return (struct pp_progress){
	    .n_readings = GET(n_readings),
	    .n_active = GET(n_active),
	    .read_bytes = GET(read_sum_bytes),
	    .all_bytes = GET(all_sum_bytes),
	};
}
