/* SPDX-License-Identifier: MIT */
/*
 * The table of arcs of one thread: open addressing, doubled when 3/8 full.
 *
 * Only the owning thread writes to its table: mcount counts, gm_calls_miss() adds arcs. Tables lie
 * in a shared mapping of <pid>/calls (arena.c), so a program that is killed leaves all counts on
 * disk.
 *
 * Everything except the count itself runs with signals blocked, so a handler never finds a
 * half-added arc. Handlers of forced signals cannot be blocked; their calls are kept for the
 * interrupted code to count (keep_for_later()). A handler may interrupt mcount between its compare
 * and its increment, and then call profiled functions until the table grows. An outgrown table
 * therefore keeps its address, keys and counts until its thread ends, and the new table counts from
 * zero. The calls of an arc are the sum over all tables. This also makes growth safe against a kill
 * at any instant.
 */
#include <errno.h>
#include <stddef.h>

#include "arch/x86_64/offsets.h"
#include "gmon-mt/children.h"
#include "internal.h"
#include "runtime/files/file.h"
#include "runtime/files/helper_task.h"
#include "runtime/process/loadmap.h"
#include "runtime/process/process.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define STACK_BYTES  1440 /* that most of gm_calls_miss() needs with AVX-512 */
#define FIRST_SLOTS  128u
#define LATER_ROUNDS 4u
#define COPY_STEPS   8u

/*
 * A call takes longer if its arc is not in its first slot. After this many calls of such an arc the
 * table grows, at most CROWDED_MAX times per thread.
 */
#define GM_CROWDED_CALLS 65536u
#define CROWDED_MAX	 4u
#define PLACE_SLOTS	 64u /* of a child of fork, in its place (children.h) */
#define PLACE_SAMPLES	 32u /* ... for its samples */
#define NONE_SLOTS	 16u /* of a thread that has made no call, and may never make one */
_Static_assert(2 * sizeof(struct gm_table) +
		       (PLACE_SLOTS + PLACE_SAMPLES) * sizeof(struct gm_arc) <=
		   GM_CHILD_CALLS_BYTES,
	       "fits");

_Static_assert(offsetof(struct gm_tls, state) == GM_TLS_STATE, "mcount.S");
_Static_assert(offsetof(struct gm_tls, view) == GM_TLS_VIEW, "mcount.S");
_Static_assert(offsetof(struct gm_view, slot_mask) == GM_VIEW_SLOT_MASK, "mcount.S");
_Static_assert(offsetof(struct gm_view, table) == GM_VIEW_TABLE, "mcount.S");
_Static_assert(GM_STATE_OFF == GM_TLS_STATE_OFF && GM_STATE_UNBORN == GM_TLS_STATE_UNBORN,
	       "mcount.S");
_Static_assert(offsetof(struct gm_calls_header, slot_mask) == GM_CALLS_SLOT_MASK, "mcount.S");
_Static_assert(sizeof(struct gm_calls_header) == GM_CALLS_HEADER_BYTES, "mcount.S");
_Static_assert(sizeof(struct gm_arc) == GM_ARC_BYTES, "mcount.S");
_Static_assert(offsetof(struct gm_table, arcs) + offsetof(struct gm_arc, from) == GM_ARC_FROM &&
		   offsetof(struct gm_table, arcs) + offsetof(struct gm_arc, self) == GM_ARC_SELF &&
		   offsetof(struct gm_table, arcs) + offsetof(struct gm_arc, count) == GM_ARC_COUNT,
	       "mcount.S");
_Static_assert(GM_FROM_RETURN == (uint64_t)GM_FROM_RETURN_WORD, "mcount.S");
_Static_assert(offsetof(struct gm_arc, count) == offsetof(struct gm_calls_arc, count), "format.h");

/* Zeros up to the end of the first slot: every lookup ends there without a match. */
static struct gm_view no_views[2];
extern struct gm_view gm_no_view __attribute__((alias("no_views")));
_Static_assert(sizeof(no_views) >= sizeof(struct gm_calls_header) + sizeof(struct gm_arc), "slot");

__thread struct gm_tls gm_tls = {.state = GM_STATE_NEWBORN, .mask = ~(uint64_t)0};

static struct gm_arc *first_place(struct gm_table *table, uint64_t from, uint64_t self)
{
	uint64_t at = (from - GM_PLACE(from)) * GM_HASH_FIRST + self - GM_PLACE(self);

	return &table->arcs[at / GM_ARC_BYTES & (table->header.n_slots - 1)];
}

/*
 * Returns the slot that holds the arc, or the empty slot for it: the first place, or, if another
 * arc is there, the next free slot from the second place on. A slot never becomes empty again. An
 * arc keeps its slot when its object moves (gm_calls_move()).
 */
static struct gm_arc *find(struct gm_table *table, uint64_t from, uint64_t self)
{
	uint32_t mask = table->header.n_slots - 1, i;
	struct gm_arc *first = first_place(table, from, self);
	uint64_t h;

	if (first->self == 0 || (first->self == self && first->from == from))
		return first;
	h = (from - GM_PLACE(from)) * GM_HASH_FACTOR + self - GM_PLACE(self);
	i = (uint32_t)(h * GM_HASH_FACTOR >> GM_HASH_SHIFT) / GM_ARC_BYTES & mask;
	while (table->arcs[i].self != 0 &&
	       (table->arcs[i].self != self || table->arcs[i].from != from))
		i = (i + 1) & mask;
	return &table->arcs[i];
}

/* The caller holds the lock. */
static struct gm_table *table_new(const struct gm_control *control, uint32_t n_slots)
{
	struct gm_table *table = gm_arena_new(n_slots, sizeof(struct gm_arc), true);

	if (table == NULL)
		return NULL;
	table->header.index = control->index;
	table->header.tid = control->tid;
	table->header.flags |= control->flags;
	table->header.slot_mask = (uint64_t)(n_slots - 1) * sizeof(struct gm_arc);
	return table;
}

const struct gm_table *gm_calls_table(const struct gm_control *control, uint32_t number)
{
	if (number < control->n_retired)
		return control->retired[number];
	return number == control->n_retired ? control->table : NULL;
}

static struct gm_table *table_at(const struct gm_control *control, uint32_t number)
{
	return (struct gm_table *)gm_calls_table(control, number);
}

/* For the calling thread. */
static void count_lost_n(uint64_t n, uint16_t why)
{
	if (gm_tls.slot == NULL) {
		gm_process_count_lost(GM_LIB_CALLS, n, why);
		return;
	}
	gm_tls.slot->calls_lost += n;
	gm_loss_add(&gm_tls.slot->calls_why, &gm_tls.slot->stalled, GM_STALLED_CALLS, why);
}

static void count_lost(uint16_t why)
{
	count_lost_n(1, why);
}

/*
 * Counts n calls or samples that found no room in the tables. A negative n takes back an earlier
 * loss.
 */
static void lose(const struct gm_control *control, uint64_t n, uint16_t why)
{
	bool are_samples = (control->flags & GM_CALLS_SAMPLES) != 0;
	struct gm_thread_slot *slot = control->slot;

	if (n == 0 || slot == NULL) /* NULL: another thread frees the block, at this moment */
		return;
	*(are_samples ? &slot->samples_missed : &slot->calls_lost) += n;
	gm_loss_add(are_samples ? &slot->samples_why : &slot->calls_why, &slot->stalled,
		    are_samples ? GM_STALLED_SAMPLES : GM_STALLED_CALLS, why);
}

static uint32_t first_slots(const struct gm_control *control)
{
	if ((control->flags & GM_CALLS_NONE) != 0)
		return NONE_SLOTS;
	if (gm_process_child() == NULL)
		return FIRST_SLOTS;
	return (control->flags & GM_CALLS_SAMPLES) != 0 ? PLACE_SAMPLES : PLACE_SLOTS;
}

bool gm_calls_begin(struct gm_control *control)
{
	control->table = table_new(control, first_slots(control));
	if (control->table == NULL)
		return false;
	gm_arena_publish(control->table);
	gm_view_set(control->view, control->table);
	return true;
}

static uint64_t table_total(const struct gm_table *table)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < table->header.n_slots; i++)
		total += table->arcs[i].count;
	return total;
}

static unsigned n_bits(uint64_t n)
{
	return n == 0 ? 0 : 64 - (unsigned)__builtin_clzll(n);
}

/* Copies the arcs with the most calls first, so that they get their first places. */
static void copy_keys(const struct gm_table *from, struct gm_table *to)
{
	unsigned most = n_bits(table_total(from));
	unsigned least = most > COPY_STEPS ? most - COPY_STEPS : 0;

	for (unsigned step = most; step + 1 > least; step--) {
		for (uint32_t i = 0; i < from->header.n_slots; i++) {
			const struct gm_arc *arc = &from->arcs[i];
			unsigned bits = n_bits(arc->count);
			struct gm_arc *copy;

			if (arc->self == 0 || (bits > least ? bits : least) != step)
				continue;
			copy = find(to, arc->from, arc->self);
			*copy = *arc;
			copy->count = 0;
		}
	}
}

static bool may_grow(const struct gm_control *control)
{
	return control->n_retired < GM_RETIRED_MAX && control->table->header.n_slots < 1u << 26;
}

/*
 * Continues in a table of twice the size, with the keys of the old one and counts of zero. The old
 * table keeps its counts and takes the increment of an mcount that was interrupted. Returns false
 * if there is no memory.
 */
static bool grow(struct gm_control *control)
{
	struct gm_table *old = control->table, *table = NULL;
	uint64_t mask;

	if (!may_grow(control) || !gm_flush_lock(&mask))
		return false;
	table = table_new(control, old->header.n_slots * 2);
	if (table != NULL) {
		copy_keys(old, table);
		gm_arena_publish(table);
		control->retired[control->n_retired++] = old;
		control->table = table;
		gm_view_set(control->view, table);
		if (control->history != NULL && !control->is_ending)
			control->history->table = table;
	}
	gm_flush_unlock(mask);
	return table != NULL;
}

/* Returns the address by which it is counted: of a library that is being unloaded, the new one. */
static uint64_t note_sampled(uint64_t address)
{
	uint64_t place;

	gm_maps_look(address, NULL, &place);
	return address + place;
}

/* Returns the arc and adds it if it is new. Returns NULL if there is no memory. */
static struct gm_arc *add(struct gm_control *control, uint64_t from, uint64_t self)
{
	struct gm_arc *arc;

	if (control == NULL)
		return NULL;
	arc = find(control->table, from, self);
	if (arc->self == 0) {
		if ((control->flags & GM_CALLS_NONE) != 0)
			gm_calls_first(control);
		/* A library that was loaded again may move arcs into this table. */
		if ((control->flags & GM_CALLS_SAMPLES) != 0)
			self = note_sampled(self);
		else
			gm_maps_note(self, NULL);
		if (from != 0)
			gm_maps_note(from, NULL);
		gm_sample_keep_handler();
		gm_threads_write_overdue();
		arc = find(control->table, from, self);
	}
	if (arc->self == 0) {
		uint32_t n_slots = control->table->header.n_slots;

		/* Grow when 3/8 full. If growing fails, accept new arcs until 7/8 full. */
		if (control->n_used >= n_slots / 8 * 3 && grow(control))
			arc = find(control->table, from, self);
		else if (control->n_used >= n_slots / 8 * 7)
			return NULL;
		arc->from = from;
		/* release: pairs with the acquires in gmon.c and histogram.c */
		__atomic_store_n(&arc->self, self, __ATOMIC_RELEASE);
		control->n_used++;
	}
	return arc;
}

void gm_calls_first(struct gm_control *control)
{
	control->flags &= ~(uint32_t)GM_CALLS_NONE;
	control->table->header.flags &= ~(uint32_t)GM_CALLS_NONE;
	gm_started = true;
}

uint16_t gm_calls_why(void)
{
	return gm_flush_is_stuck() ? GM_LOSS_STALLED : gm_arena_why() | GM_LOSS_MEMORY;
}

/* The reason why an arc cannot be added. */
static uint16_t why_full(const struct gm_control *control)
{
	return control != NULL && !may_grow(control) ? GM_LOSS_TOO_MANY : gm_calls_why();
}

void gm_calls_add(struct gm_control *control, uint64_t from, uint64_t self, uint64_t n)
{
	struct gm_arc *arc = add(control, from, self);

	if (arc != NULL)
		arc->count += n;
	else
		lose(control, n, why_full(control));
}

static void count(struct gm_control *control, uint64_t from, uint64_t self)
{
	struct gm_arc *arc = add(control, from, self);

	if (arc == NULL) {
		count_lost(why_full(control));
		return;
	}
	if (control->history != NULL)
		gm_history_record(control, arc, 0);
	arc->count++;
	if (arc->count % GM_CROWDED_CALLS == 0 && control->n_crowded < CROWDED_MAX &&
	    arc != first_place(control->table, from, self)) {
		control->n_crowded++;
		grow(control);
	}
}

/*
 * Called from a handler that interrupted the slow path, or from a function of the program that the
 * slow path calls (an interposed pthread_setspecific()). The call is kept until the slow path ends,
 * if there is room.
 */
static void keep_for_later(uint64_t from, uint64_t self)
{
	struct gm_later *later = gm_tls.later;

	if (gm_tls.slot != NULL && gm_tls.history != NULL) {
		gm_tls.slot->records_lost++;
		gm_loss_add(&gm_tls.slot->records_why, &gm_tls.slot->stalled, GM_STALLED_RECORDS,
			    GM_LOSS_COUNTING_ONLY);
	}
	if (from == GM_FROM_RETURN)
		return;
	for (unsigned i = 0; i < GM_LATER_MAX; i++, later++) {
		if (later->n == 0)
			*later = (struct gm_later){from, self, 0};
		if (later->from == from && later->self == self) {
			later->n++;
			return;
		}
	}
	count_lost(GM_LOSS_COUNTING_ONLY);
}

/*
 * Counts the calls that were kept, and those that handlers add meanwhile, for a bounded number of
 * rounds.
 */
static void count_later(bool counts)
{
	for (unsigned i = 0; i < LATER_ROUNDS * GM_LATER_MAX; i++) {
		struct gm_later *later = &gm_tls.later[i % GM_LATER_MAX], taken;

		if (__atomic_load_n(&later->n, __ATOMIC_RELAXED) == 0)
			continue;
		taken = *later; /* of this arc until n is 0; a handler may add to n */
		taken.n = __atomic_exchange_n(&later->n, 0, __ATOMIC_RELAXED);
		if (counts && gm_tls.control != NULL && taken.self > GM_SELF_NONE &&
		    i < (LATER_ROUNDS - 1) * GM_LATER_MAX)
			gm_calls_add(gm_tls.control, taken.from, taken.self, taken.n);
		else if (counts || gm_tls.state == GM_STATE_LOST ||
			 gm_tls.state == GM_STATE_NEWBORN)
			count_lost_n(taken.n, GM_LOSS_COUNTING_ONLY);
	}
}

/*
 * A handler jumped out of the slow path. The interrupted work stays unfinished, and the thread
 * makes no further system call of ours: such a call may have caused the signal.
 */
static void seal(void)
{
	gm_sealed = true; /* first: the code below may be left by a jump, too */
	gm_process_left(gm_tls.inside.tid);
	count_later(false);
	gm_signals_unblock_left(gm_tls.mask);
}

/* Counts the call without any system call, if the table has its arc already. */
static void miss_sealed(uint64_t from, uint64_t self)
{
	struct gm_control *control = gm_tls.control;
	struct gm_arc *arc = NULL;

	if (gm_tls.history != NULL) {
		gm_tls.slot->records_lost++;
		gm_loss_add(&gm_tls.slot->records_why, &gm_tls.slot->stalled, GM_STALLED_RECORDS,
			    GM_LOSS_COUNTING_ONLY);
	}
	if (from == GM_FROM_RETURN)
		return;
	/* The child of a fork has an empty view; the table belongs to its parent. */
	if (control != NULL && control->table != NULL && control->view->slot_mask != 0 && self != 0)
		arc = find(control->table, from, self);
	if (arc != NULL && arc->self != 0)
		arc->count++;
	else
		count_lost(GM_LOSS_COUNTING_ONLY);
}

/* For a child of fork whose first thread is stuck: the mappings are still those of its parent. */
static void count_stalled(uint64_t from)
{
	if (from != GM_FROM_RETURN)
		count_lost(GM_LOSS_STALLED);
}

/* Returns false if the process is open, or if it is time to try to open it. */
static bool miss_waiting(uint64_t from)
{
	if (!gm_threads_check_fork()) {
		count_stalled(from);
		return true;
	}
	if (!gm_process_waits(GM_LIB_CALLS))
		return false;
	if (from != GM_FROM_RETURN)
		count_lost(gm_process_why());
	return true;
}

static void miss(uint64_t from, uint64_t self)
{
	bool counts;

	if (!gm_threads_check_fork()) {
		count_stalled(from);
		return;
	}
	if (gm_thread_may_start())
		gm_thread_start(false);
	counts = gm_thread_counts();
	if (gm_tls.history != NULL)
		gm_tls.history->packet = NULL; /* nested calls take the slow path */
	if (from == GM_FROM_RETURN) {
		if (counts && gm_tls.state == GM_STATE_HISTORY)
			gm_history_record(gm_tls.control, NULL, self);
	} else if (gm_tls.state == GM_STATE_LOST) {
		count_lost(gm_tls.why_lost);
	} else if (gm_tls.state == GM_STATE_NEWBORN) {
		count_lost(gm_process_why());
	} else if (counts && self <= GM_SELF_NONE) {
		count_lost(GM_LOSS_NO_FUNCTION);
	} else if (counts) {
		count(gm_thread_control(), from, self);
	}
	count_later(counts);
	gm_history_show(gm_tls.control);
}

static bool is_later_kept(void)
{
	bool is_kept = false;

	for (unsigned i = 0; i < GM_LATER_MAX; i++)
		is_kept |= __atomic_load_n(&gm_tls.later[i].n, __ATOMIC_RELAXED) != 0;
	return is_kept;
}

/*
 * A handler may have called functions after count_later() and found the thread inside. These calls
 * are counted before the slow path is left.
 */
void gm_calls_leave(void)
{
	for (unsigned i = 0; i < LATER_ROUNDS; i++) {
		gm_tls_leave();
		if (!is_later_kept())
			return;
		gm_inside_enter(&gm_tls.inside, gm_frame());
		__atomic_store_n(&gm_tls.is_busy, true, __ATOMIC_RELAXED);
		count_later(gm_thread_counts());
	}
	gm_tls_leave();
}

enum entry {
	ENTRY_BLOCKED,	 /* the first one; signals are blocked */
	ENTRY_NESTED,	 /* GM_ENTRY_NESTED */
	ENTRY_LEFT,	 /* GM_ENTRY_LEFT */
	ENTRY_UNDECIDED, /* whether to enter at all */
};

/*
 * Called by mcount.S when the arc is not in the table of the calling thread, in this order. They
 * use general registers only, and may run at any moment of the thread's life.
 *
 * gm_calls_enter() blocks signals before the vector registers are saved: until then, the handlers
 * of several signals may add their frames on the least stack that a thread can have. It calls
 * nothing outside the library.
 *
 * gm_calls_miss() needs a few KiB of stack. If it returns true, signals are blocked; the caller
 * first releases all the stack it can and then calls gm_calls_miss_end(*mask).
 */
enum entry gm_calls_enter(uint64_t *ret_mask);
bool gm_calls_miss(uint64_t from, uint64_t self, uint64_t *mask, enum entry entry);
void gm_calls_miss_end(uint64_t mask);

/*
 * A handler jumped out before signals were blocked. One such jump may come from the handler of any
 * signal. Two in a row mean that a seccomp filter traps the system call that blocks signals.
 */
static bool was_early(void)
{
	if (gm_tls.is_busy || gm_tls.was_early)
		return false;
	gm_tls.was_early = true;
	gm_signals_unblock_left(gm_tls.mask);
	return true;
}

static enum entry enter(uint64_t *ret_mask)
{
	if (gm_tls.inside.tid == 0)
		gm_stack_touch(STACK_BYTES);
	switch (gm_inside_enter(&gm_tls.inside, gm_frame())) {
	case GM_ENTRY_NESTED:
		return ENTRY_NESTED;
	case GM_ENTRY_LEFT:
		return ENTRY_LEFT;
	default:
		break;
	}
	gm_signals_block(&gm_tls.mask);
	*ret_mask = gm_tls.mask;
	return ENTRY_BLOCKED;
}

__attribute__((noinline, cold, visibility("hidden"))) enum entry gm_calls_enter(uint64_t *ret_mask)
{
	bool is_newborn = gm_tls.state == GM_STATE_NEWBORN;

	if (gm_seal_is_set() || (is_newborn && gm_seal_newborn()) ||
	    (is_newborn && gm_process_waits(GM_LIB_CALLS)) || gm_files_have_helper())
		return ENTRY_UNDECIDED;
	return enter(ret_mask);
}

/* Returns false if the call has been counted and there is nothing more to do. */
static bool decide(uint64_t from, uint64_t self, uint64_t *ret_mask, enum entry *entry)
{
	if (gm_seal_is_set() || (gm_tls.state == GM_STATE_NEWBORN && gm_seal_newborn())) {
		miss_sealed(from, self);
		return false;
	}
	if (gm_tls.state == GM_STATE_NEWBORN && miss_waiting(from))
		return false;
	if (gm_files_have_helper()) {
		keep_for_later(from, self);
		return false;
	}
	*entry = enter(ret_mask);
	return true;
}

__attribute__((noinline, cold, visibility("hidden"))) bool
gm_calls_miss(uint64_t from, uint64_t self, uint64_t *mask, enum entry entry)
{
	if (entry == ENTRY_UNDECIDED && !decide(from, self, mask, &entry))
		return false;
	switch (entry) {
	case ENTRY_NESTED:
		keep_for_later(from, self);
		return false;
	case ENTRY_LEFT:
		if (!was_early()) {
			seal();
			gm_tls_leave();
			miss_sealed(from, self);
			return false;
		}
		gm_signals_block(&gm_tls.mask);
		*mask = gm_tls.mask;
		break;
	default:
		break;
	}
	__atomic_store_n(&gm_tls.is_busy, true, __ATOMIC_RELAXED);
	gm_tls.was_early = false;
	miss(from, self);
	gm_calls_leave();
	return true;
}

__attribute__((noinline, cold, visibility("hidden"))) void gm_calls_miss_end(uint64_t mask)
{
	gm_signals_restore(mask);
}

static uint64_t arc_total(const struct gm_control *control, const struct gm_arc *arc)
{
	uint64_t total = 0;

	for (uint32_t n = 0; n <= control->n_retired; n++)
		total += find(table_at(control, n), arc->from, arc->self)->count;
	return total;
}

/* Writes one table with the sums over all tables to the file. Returns false if the disk is full. */
static bool archive(const struct gm_control *control)
{
	const struct gm_table *table = control->table;
	struct gm_table *dense;
	struct gm_calls_arc *to;

	dense = gm_arena_new(control->n_used, sizeof(struct gm_calls_arc), false);
	if (dense == NULL)
		return false;
	dense->header.index = control->index;
	dense->header.tid = control->tid;
	dense->header.flags |= GM_CALLS_DENSE | control->flags;
	to = (struct gm_calls_arc *)dense->arcs;
	for (uint32_t i = 0; i < table->header.n_slots; i++)
		if (table->arcs[i].self != 0)
			*to++ = (struct gm_calls_arc){table->arcs[i].from, table->arcs[i].self,
						      arc_total(control, &table->arcs[i])};
	gm_arena_publish(dense);
	return true;
}

/*
 * Without room in the file, adds the counts that exist only in memory to the newest table in the
 * file, where that table has the arc. The other counts are lost.
 */
static void spill(struct gm_control *control)
{
	struct gm_table *disk = NULL;

	for (uint32_t n = 0; n <= control->n_retired; n++)
		if ((table_at(control, n)->header.flags & GM_CALLS_PRIVATE) == 0)
			disk = table_at(control, n);
	for (uint32_t n = 0; n <= control->n_retired; n++) {
		struct gm_table *table = table_at(control, n);

		if ((table->header.flags & GM_CALLS_PRIVATE) == 0)
			continue;
		for (uint32_t i = 0; i < table->header.n_slots; i++) {
			const struct gm_arc *arc = &table->arcs[i];
			struct gm_arc *kept = NULL;

			if (arc->count == 0)
				continue;
			if (disk != NULL)
				kept = find(disk, arc->from, arc->self);
			if (kept != NULL && kept->self != 0)
				kept->count += arc->count;
			else
				lose(control, arc->count, gm_arena_why());
		}
		gm_arena_free(table);
	}
}

bool gm_calls_are_kept(const struct gm_control *control)
{
	for (uint32_t n = 0; n <= control->n_retired; n++)
		if ((table_at(control, n)->header.flags & GM_CALLS_PRIVATE) != 0)
			return false;
	return true;
}

uint64_t gm_calls_total(const struct gm_control *control)
{
	uint64_t total = 0;

	for (uint32_t n = 0; n <= control->n_retired; n++)
		total += table_total(table_at(control, n));
	return total;
}

void gm_calls_settle(struct gm_control *control)
{
	const struct gm_table *table;
	uint64_t lost = 0;

	for (uint32_t n = 0; (table = gm_calls_table(control, n)) != NULL; n++)
		if ((table->header.flags & GM_CALLS_PRIVATE) != 0)
			lost += table_total(table);
	lose(control, lost - control->settled_lost, gm_arena_why());
	control->settled_lost = lost;
}

void gm_calls_end(struct gm_control *control)
{
	lose(control, -control->settled_lost, 0);
	if ((control->flags & GM_CALLS_NONE) != 0 || archive(control))
		for (uint32_t n = 0; n <= control->n_retired; n++)
			gm_arena_free(table_at(control, n));
	else
		spill(control);
	control->table = NULL;
	control->n_retired = 0;
}

static void move_key(uint64_t *address, const struct gm_object *object, uint64_t by)
{
	if (*address >= object->start && *address < object->end)
		__atomic_store_n(address, *address + by, __ATOMIC_RELAXED);
}

static void move_keys(struct gm_table *table, const struct gm_object *object, uint64_t by)
{
	char *slot = (char *)table->arcs;

	for (uint32_t i = 0; i < table->header.n_slots; i++, slot += table->header.slot_bytes) {
		struct gm_calls_arc *arc = (struct gm_calls_arc *)slot;

		if (arc->self == 0)
			continue;
		move_key(&arc->from, object, by);
		move_key(&arc->self, object, by);
	}
}

void gm_calls_move(struct gm_object *object, uint64_t by)
{
	struct gm_table *table = NULL;
	uint64_t mask;
	bool locked = gm_flush_lock(&mask); /* if not, the keys are moved nevertheless */

	while ((table = gm_arena_next(table)) != NULL)
		move_keys(table, object, by);
	if (gm_gmon_merged() != NULL)
		move_keys(gm_gmon_merged(), object, by);
	if (gm_samples_kept() != NULL)
		move_keys(gm_samples_kept(), object, by);
	gm_object_move(object, by);
	if (locked)
		gm_flush_unlock(mask);
}

static bool merge_grow(struct gm_control *into)
{
	struct gm_table *old = into->table, *table;
	uint32_t n_slots = old == NULL ? 4 * FIRST_SLOTS : 2 * old->header.n_slots;

	table = gm_sys_mmap(gm_table_bytes(n_slots), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (table == NULL)
		return false;
	table->header.n_slots = n_slots;
	for (uint32_t i = 0; old != NULL && i < old->header.n_slots; i++)
		if (old->arcs[i].self != 0)
			*find(table, old->arcs[i].from, old->arcs[i].self) = old->arcs[i];
	if (old != NULL)
		gm_sys_munmap(old, gm_table_bytes(old->header.n_slots));
	table->header.slot_bytes = sizeof(struct gm_arc);
	into->table = table;
	return true;
}

uint64_t gm_calls_merge(struct gm_control *into, const struct gm_table *from)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < from->header.n_slots; i++) {
		const struct gm_arc *arc = &from->arcs[i];
		struct gm_arc *sum;

		if (arc->self == 0)
			continue;
		if ((into->table == NULL || into->n_used >= into->table->header.n_slots / 2) &&
		    !merge_grow(into) &&
		    (into->table == NULL || into->n_used + 1 >= into->table->header.n_slots)) {
			lost += arc->count;
			continue;
		}
		sum = find(into->table, arc->from, arc->self);
		into->n_used += sum->self == 0;
		sum->from = arc->from;
		sum->self = arc->self;
		sum->count += arc->count;
	}
	return lost;
}
