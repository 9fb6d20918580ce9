/* SPDX-License-Identifier: MIT */
/*
 * With `sync.holds`, the times of holds that are only counted (hold.h): by thread, object and site
 * of the acquisition, in rows of the file `sync-holds`, which is mapped, so that they survive
 * SIGKILL.
 *
 * A thread finds its rows by a table of its own, in a mapping that is zeroed in a forked child.
 * Only the owning thread writes a row, with the gate closed. Holds without room are counted.
 */
#include "record/hold.h"
#include "record/internal.h"
#include "sums/rows.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define FIRST_BYTES 4096u
#define LAST_BYTES  (FIRST_BYTES << 10) /* 260,000 rows per thread */
#define RUN_ROWS    8u			/* allocated at a time */

struct st_timed {
	uint32_t n_slots;
	uint32_t n_used;
	uint32_t run, run_end; /* rows that are allocated to the thread, but not in use */
	struct st_holds_row *slots[];
};

bool st_times_holds;
static struct st_counts_header **losses; /* where holds without a row are counted */
static uint32_t n_taken;		 /* number of allocated rows */
static bool full;			 /* the file found no room: do not try again */
static GM_LARGE uint8_t *segments[ST_SEGMENTS_MAX];
static struct st_rows rows = {ST_HOLDS_FILE, ST_HOLDS_MAGIC, sizeof(struct st_holds_row),
			      segments,	     NULL,	     NULL};

/* A hold whose time finds no room. */
static void lose_hold(void)
{
	struct st_counts_header *header = __atomic_load_n(losses, __ATOMIC_ACQUIRE);

	if (header != NULL)
		__atomic_fetch_add(&header->holds_lost, 1, __ATOMIC_RELAXED);
}

void st_timed_open(const char *dir, struct st_counts_header **counts)
{
	losses = counts;
	st_rows_open(&rows, dir, 0);
}

void st_timed_forget(void)
{
	st_rows_forget(&rows);
	n_taken = 0;
	full = false;
}

static size_t bytes_of(const struct st_timed *timed)
{
	return sizeof(*timed) + timed->n_slots * sizeof(timed->slots[0]);
}

void st_timed_end_thread(struct st_thread *self)
{
	struct st_timed *timed = self->timed;

	self->timed = NULL;
	if (timed != NULL)
		gm_sys_munmap(timed, bytes_of(timed));
}

static struct st_timed *timed_new(size_t size_bytes)
{
	struct st_timed *timed = st_memory_new(size_bytes);

	if (timed != NULL)
		timed->n_slots =
		    (uint32_t)((size_bytes - sizeof(*timed)) / sizeof(timed->slots[0]));
	return timed;
}

static uint64_t hash_of(uint64_t object, uint16_t site, uint8_t op)
{
	return ((object ^ (uint64_t)site << 40 ^ (uint64_t)op << 56) * 0x9e3779b97f4a7c15u) >> 32;
}

/*
 * Returns the row's entry, or a free one, which always exists. Returns NULL if code that forked in
 * mid-event continues in the child, where the table is zeroed.
 */
static struct st_holds_row **place_of(struct st_timed *timed, uint64_t object, uint16_t site,
				      uint8_t op)
{
	uint32_t n_slots = __atomic_load_n(&timed->n_slots, __ATOMIC_RELAXED);
	uint64_t at;

	if (n_slots == 0)
		return NULL;
	at = hash_of(object, site, op) % n_slots;
	for (;;) {
		struct st_holds_row *row = timed->slots[at];

		if (row == NULL || (row->object == object && row->number == site && row->op == op))
			return &timed->slots[at];
		at = at + 1 == n_slots ? 0 : at + 1;
	}
}

/* Makes room for one more row; the table is at most three quarters full. */
static struct st_timed *make_room(struct st_thread *self)
{
	struct st_timed *old = self->timed, *bigger;

	if (old != NULL && old->n_used < old->n_slots / 4 * 3)
		return old;
	if (old != NULL && (old->n_slots == 0 || bytes_of(old) * 4 > LAST_BYTES))
		return NULL;
	bigger = timed_new(old != NULL ? bytes_of(old) * 4 : FIRST_BYTES);
	if (bigger == NULL || old == NULL) {
		self->timed = bigger != NULL ? bigger : old;
		return bigger;
	}
	bigger->run = old->run;
	bigger->run_end = old->run_end;
	bigger->n_used = old->n_used;
	for (uint32_t i = 0; i < old->n_slots; i++)
		if (old->slots[i] != NULL)
			*place_of(bigger, old->slots[i]->object, old->slots[i]->number,
				  old->slots[i]->op) = old->slots[i];
	self->timed = bigger;
	gm_sys_munmap(old, bytes_of(old));
	return bigger;
}

/* Signals are blocked. NULL: no room. */
static struct st_holds_row *row_new(struct st_thread *self, const struct st_timing *timing,
				    uint64_t object)
{
	struct st_timed *timed = make_room(self);
	struct st_holds_row *row;

	if (timed == NULL)
		return NULL;
	if (timed->run == timed->run_end) {
		uint32_t run = __atomic_fetch_add(&n_taken, RUN_ROWS, __ATOMIC_RELAXED);

		if (st_rows_at(&rows, run + RUN_ROWS - 1) == NULL) {
			__atomic_store_n(&full, true, __ATOMIC_RELAXED);
			return NULL;
		}
		timed->run = run;
		timed->run_end = run + RUN_ROWS;
	}
	row = st_rows_at(&rows, timed->run);
	if (row == NULL)
		return NULL;
	timed->run++;
	timed->n_used++;
	row->object = object;
	row->site = st_site_address(self, timing->site);
	row->first_ns = timing->begin_ns;
	row->index = self->stream.index;
	row->number = timing->site;
	row->op = timing->op;
	*place_of(timed, object, timing->site, timing->op) = row;
	return row;
}

void st_timed_add(struct st_thread *self, const struct st_timing *timing, const void *object)
{
	uint64_t key = (uintptr_t)object, mask, hold_ns = timing->end_ns - timing->begin_ns;
	struct st_holds_row *row = NULL;

	if (timing->end_ns < timing->begin_ns)
		hold_ns = 0;
	if (self->timed != NULL) {
		struct st_holds_row **place = place_of(self->timed, key, timing->site, timing->op);

		if (place == NULL)
			return;
		row = *place;
	}
	if (row == NULL && !__atomic_load_n(&full, __ATOMIC_RELAXED) && !gm_seal_is_set()) {
		gm_signals_block(&mask);
		row = row_new(self, timing, key);
		gm_signals_restore(mask);
	}
	if (row == NULL) {
		lose_hold();
		return;
	}
	row->total_ns += hold_ns;
	if (hold_ns > row->longest_ns)
		row->longest_ns = hold_ns;
	/* release: a reader of the live file finds the other fields complete */
	__atomic_store_n(&row->n, row->n + 1, __ATOMIC_RELEASE);
}
