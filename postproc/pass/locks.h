/* SPDX-License-Identifier: MIT */
/*
 * Shared by the pass that counts the costs of locks (locks.c, locks_fold.c, locks_holders.c,
 * locks_sums.c) and
 * its tables (locks_rows.c, locks_text.c).
 */
#ifndef PP_PASS_LOCKS_H
#define PP_PASS_LOCKS_H

#include "analysis/state/idle.h"
#include "analysis/state/object_state.h"
#include "analysis/state/try_runs.h"
#include "analysis/state/unknown_hold.h"
#include "analysis/site_set.h"
#include "analysis/percentiles.h"

/* Holds begun by that call, for which the waits of one call site waited. */
struct pp_lock_holder {
	struct pp_site_key key; /* of the call; detail: enum pp_hold_why */
	uint64_t contended;
	int64_t wait_ns, wait_max_ns;
	int64_t spin_ns;
};

/* Failed tries; a spin is a run of them that ended in success (try_runs.h). */
struct pp_lock_tries {
	uint64_t n_failed, n_spins;
	int64_t spin_ns, spin_max_ns;
};

/* Separate, since of millions of objects with a call site each, few are waited for. */
struct pp_lock_waits {
	uint64_t contended;
	int64_t wait_ns;
	struct pp_spread spread;
	struct pp_lock_tries tries;
	struct pp_site_set holders; /* of struct pp_lock_holder */
	struct pp_idle_sums idle;
	struct pp_idle_total idle_folded; /* of objects that no longer exist */
	struct pp_idle_total idle_total;  /* determined at the end */
};

struct pp_lock_site {
	struct pp_site_key key;
	uint64_t calls;
	int64_t hold_ns; /* including counted holds */
	struct pp_spread holds;
	uint64_t n_counted; /* holds without events (sync.holds) */
	int64_t counted_max_ns;
	struct pp_lock_waits *waits; /* NULL: none */
};

/* A hold that a wait may be for. */
struct pp_lock_found {
	bool is_found;
	enum st_event op;
	uint64_t site;
};

/* An open wait, and the hold that it waits for. */
struct pp_lock_wait {
	const struct pp_thread *thread;
	enum st_event op;
	uint32_t owner_tid; /* as recorded in the lock; 0: not known */
	int64_t begin_ns;
	bool has_readers; /* several threads held it; hold: of the last that released it */
	struct pp_lock_found hold;
	struct pp_lock_found former; /* the previous hold, used if no other is found */
};

/* An ended hold. */
struct pp_lock_former {
	const struct pp_thread *thread; /* NULL: none has ended */
	int64_t end_ns;
	uint64_t n_done; /* the thread's number of operations then */
	struct pp_lock_found hold;
};

/* struct pp_object.data */
struct pp_lock {
	uint64_t acquired, contended, timed_out;
	int64_t wait_ns, hold_ns;
	int64_t runnable_ns;	  /* part of the wait: ready without a CPU */
	struct pp_site_set sites; /* of struct pp_lock_site */
	GArray *waits;		  /* of struct pp_lock_wait, for lockable objects; NULL: none yet */
	struct pp_lock_former formers[2]; /* of different threads, the last one first */
	int64_t *parts_ns; /* waits and spins by window of the selection; NULL: none yet */
	struct pp_idle_object *idle; /* NULL: none of its waits is idle */
};

struct pp_locks {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	struct pp_try_runs try_runs;
	struct pp_idle idle;
	uint64_t unfinished, held_to_end;
	bool has_counted; /* the counted holds have been added */
	struct pp_lost_threads lost;
};

/*
 * True if uncontended operations are known only as a total, as for objects of that process and
 * type.
 */
bool pp_lock_is_counted(const struct pp_object *object);

/* True if its hold times are known. */
bool pp_lock_has_holds(const struct pp_object *object);

/* --- objects that no longer exist: locks_fold.c --- */

void pp_lock_free(void *lock);

/* Adds the figures of the object to those of the group; for struct pp_object_listener. */
bool pp_lock_fold(void *data, struct pp_object *object, struct pp_object *group);

/* True of the condition variable of one waiter, which it has destroyed. */
bool pp_lock_is_brief(const struct pp_object *object);

/* Longest wait first, spins included, then longest hold, then order of appearance. */
int pp_lock_compare(const struct pp_object *a, const struct pp_object *b);

/* --- the holds that waits are for: locks_holders.c --- */

/* A wait for a lock begins. */
void pp_lock_wait_begins(struct pp_locks *self, struct pp_object *object,
			 const struct pp_operation *operation);

/*
 * To be called for each operation on a lock with open waits.  If it ends a wait, stores the hold
 * that the wait was for, as a key of a struct pp_lock_holder.
 */
void pp_lock_wait_operation(struct pp_locks *self, struct pp_object *object,
			    const struct pp_operation *operation, bool acquired,
			    struct pp_site_key *ret);

/* A thread released the lock. */
void pp_lock_hold_ended(struct pp_locks *self, struct pp_lock *lock, const struct pp_hold *hold,
			int64_t end_ns);

/* The hold that a failed try found. */
struct pp_site_key pp_lock_hold_at_try(struct pp_locks *self, const struct pp_object *object,
				       const struct pp_operation *operation);

/*
 * If the holder of a spin since then is unknown: the hold whose event came after the first try, and
 * which has ended now that the thread has the lock.
 */
void pp_lock_find_late_hold(const struct pp_lock *lock, const struct pp_thread *thread,
			    int64_t since_ns, struct pp_site_key *holder);

/* --- tables: locks_rows.c, locks_text.c --- */

/* Text shows only the first rows, since there may be thousands. */
#define PP_LOCKS_TEXT_ROWS 50

/* The sort keys of objects, adjacent in memory, since there may be millions. */
struct pp_ranked_lock {
	int64_t wait_ns; /* including spins, without idle waits */
	int64_t idle_ns;
	int64_t hold_ns;
	uint64_t order;
	const struct pp_object *object;
};

/*
 * The objects of the tables, in order: of struct pp_ranked_lock.  To be called after all events and
 * the counted holds.
 */
GArray *pp_locks_used(const struct pp_locks *self);

struct pp_table *pp_locks_table(const struct pp_locks *self, const GArray *used);

/*
 * The error of each object's total of waits and spins, in the order of the table, if only
 * windows of the time are selected; else NULL.
 */
struct pp_table *pp_lock_errors_table(const struct pp_locks *self, const GArray *used);

/* --- sums over call sites: locks_sums.c --- */

/* The sum over all call sites. */
struct pp_lock_tries pp_lock_tries(const struct pp_lock *lock);

/* Determines which waits were idle, after all events of the object.  Returns the sum. */
int64_t pp_lock_settle_idle(const struct pp_object *object);

/* The waits of a call site, which may be none. */
const struct pp_lock_waits *pp_lock_waits_of(const struct pp_lock_site *site);

/* The name of a call site; NULL: not known.  The caller frees it. */
char *pp_lock_site_text(const struct pp_locks *self, const struct pp_object *object,
			uint64_t address);

/* True if the number of calls of that function is known. */
bool pp_lock_calls_are_known(const struct pp_locks *self, const struct pp_object *object,
			     enum st_event op);

/*
 * Fills four cells: failed tries, spins, their total time and the longest.  Where only waits were
 * recorded, the tries of a part of the threads or of the time may be known; none is not a number
 * then.
 */
void pp_lock_set_tries(struct pp_cell *cells, const struct pp_object *object,
		       const struct pp_lock_tries *tries);

/* Notes how many waits for these locks have no known holder, by reason.  See locks_holders.c. */
void pp_lock_note_unknown(struct pp_table *table, const GArray *used);

/*
 * The holds that waits found, and the failed tries, of all call sites of these objects (struct
 * pp_ranked_lock); NULL if there are none.
 */
struct pp_table *pp_lock_pairs_table(const struct pp_locks *self, const GArray *used);
struct pp_table *pp_lock_tries_table(const struct pp_locks *self, const GArray *used);

#endif
