/* SPDX-License-Identifier: MIT */
/* Shared by the files of this folder. */
#ifndef PP_ANALYSIS_BLAME_INTERNAL_H
#define PP_ANALYSIS_BLAME_INTERNAL_H

#include "analysis/blame/blame.h"
#include "analysis/state/idle.h"

/* Intervals of a thread that are remembered. */
#define PP_BLAME_RECENT 32u

struct pp_blame_place;
struct pp_blame_thread;

/* --- causes and charges: causes.c --- */

/* The time of one waiting call, charged to a cause that is not known yet. */
struct pp_blame_pending {
	struct pp_blame_call waiter;
	struct pp_blame_figures figures;
};

/*
 * One hold, or one arrival at a barrier.  Its call is known when it has been made, after which the
 * time that was charged so far is added to the cells.
 */
struct pp_blame_instance {
	unsigned refs;
	bool is_resolved;
	bool is_active; /* a hold: the thread still holds the object */
	const struct pp_thread *thread;
	int64_t since_ns; /* of a hold */
	struct pp_blame_place *place;
	struct pp_blame_cause cause;
	struct pp_blame_figures clock; /* a hold: its share of the time since it is watched */
	GArray *pending;	       /* of struct pp_blame_pending; NULL: none */
};

struct pp_blame_charge {
	struct pp_blame_cause cause;
	struct pp_blame_instance *instance; /* NULL: `cause` is valid */
	struct pp_blame_figures figures;
};

/* The clock of a hold when the wait began. */
struct pp_blame_mark {
	struct pp_blame_instance *instance;
	struct pp_blame_figures clock;
};

struct pp_blame_wait {
	struct pp_blame_place *place;
	const struct pp_thread *thread;
	enum st_event op;
	uint64_t site;
	int64_t begin_ns;
	bool is_orphan; /* its object no longer exists */
	bool counts;	/* its end is selected */
	/* Locks: */
	uint32_t owner_tid;    /* as recorded in the lock; 0: not known */
	bool has_owner;	       /* a hold that may be the owner's is known, or has ended */
	int64_t free_begin_ns; /* the place's free_ns at its begin */
	int64_t free_seen_ns;  /* ... at the thread's last change of mode */
	int64_t runnable_ns;   /* ready without a CPU while nobody held the object */
	int64_t no_owner_ns;   /* until the first hold, which was not the owner's */
	GArray *marks;	       /* of struct pp_blame_mark; NULL: none */
	/* Others: */
	int64_t covered_ns; /* charged up to that time */
	bool is_passed;	    /* the barrier is complete */
	bool is_woken;	    /* by the thread that made the call */
	uint64_t mutex;	    /* of a condition wait; 0: none */
	struct pp_blame_cause wake;
	const struct pp_thread *waker; /* NULL: no call that may have ended the wait */
	int64_t woken_ns;
	struct pp_blame_wait *second; /* for the mutex; NULL: none */
	GArray *charges;	      /* of struct pp_blame_charge; NULL: none */
};

void pp_blame_figures_add(struct pp_blame_figures *sum, const struct pp_blame_figures *figures);
bool pp_blame_call_equal(const struct pp_blame_call *a, const struct pp_blame_call *b);
bool pp_blame_cause_equal(const struct pp_blame_cause *a, const struct pp_blame_cause *b);

struct pp_blame_instance *pp_blame_instance_new(struct pp_blame_place *place,
						const struct pp_thread *thread);
void pp_blame_instance_unref(struct pp_blame_instance *instance);
/* The cause is known: adds all pending time to the cells. */
void pp_blame_instance_resolve(struct pp_blame_instance *instance,
			       const struct pp_blame_cause *cause);

/* Charges a part of an open wait: to the instance, or if that is NULL to the cause. */
void pp_blame_charge(struct pp_blame_wait *wait, const struct pp_blame_cause *cause,
		     struct pp_blame_instance *instance, const struct pp_blame_figures *figures);
/* Adds the charges of an ended wait to the cells.  Returns their sum. */
int64_t pp_blame_settle_charges(struct pp_blame_wait *wait, const struct pp_blame_call *waiter);
void pp_blame_wait_free(struct pp_blame_wait *wait);
/*
 * The call path of the cause will be known at the end of the thread's operation.  Takes a
 * reference.
 */
void pp_blame_resolve_later(struct pp_blame_thread *of, struct pp_blame_instance *instance);
/* The operation has ended; path: NULL if it is not known. */
void pp_blame_resolve(struct pp_blame_thread *of, const struct pp_path *path);

/* --- the known data of an object: places.c --- */

/* A thread that has acquired a semaphore and not posted it. */
struct pp_blame_unit {
	uint64_t n;
	int64_t since_ns; /* the last one */
	struct pp_blame_call acquired;
};

/* struct pp_object.data */
struct pp_blame_place {
	struct pp_object *object;
	GPtrArray *waits; /* of struct pp_blame_wait *, open; NULL: none yet */
	GPtrArray *holds; /* of struct pp_blame_instance *: watched, since there are waits */
	int64_t until_ns; /* the clocks of the holds have run up to then */
	int64_t free_ns;  /* time without a hold, while watched */
	GHashTable *cells;
	GHashTable *waiters;		   /* of idle.c */
	struct pp_idle_object *idle;	   /* NULL: none of its waits is idle */
	GHashTable *units;		   /* thread -> struct pp_blame_unit; NULL: none yet */
	unsigned n_unresolved;		   /* instances whose call is known later */
	int64_t wait_ns;		   /* in all cells */
	const struct pp_thread *former[2]; /* threads whose holds have ended, the last one first */
	uint64_t former_done[2];	   /* their numbers of operations then */
};

struct pp_blame_place *pp_blame_place_of(struct pp_object *object);
struct pp_blame_wait *pp_blame_wait_new(struct pp_blame_place *place,
					const struct pp_thread *thread, enum st_event op,
					uint64_t site, int64_t begin_ns);
/* Adds to a cell. */
void pp_blame_add(struct pp_blame_place *place, const struct pp_blame_cause *cause,
		  const struct pp_blame_call *waiter, const struct pp_blame_figures *figures);
void pp_blame_place_free(void *place);
/* Adds a hand-over of selected ns, of which the waiter was ready without a CPU for runnable_ns. */
void pp_blame_hand_over(const struct pp_blame *blame, const struct pp_blame_wait *wait,
			const struct pp_blame_call *waiter, int64_t ns, int64_t runnable_ns);
/* Adds an unknown part. */
void pp_blame_unknown(const struct pp_blame_wait *wait, const struct pp_blame_call *waiter,
		      unsigned why, int64_t ns);
/* Adds the cells of `from` to those of `to`. */
void pp_blame_fold_cells(struct pp_blame_place *to, const struct pp_blame_place *from);

/* --- threads: activity.c ---------------------------------------------------------------------- */

struct pp_blame_interval {
	int64_t start_ns, end_ns;
	enum pp_mode mode;
};

struct pp_blame_thread {
	GPtrArray *held; /* of struct pp_blame_place *: watched, and held by the thread */
	GArray *waits;	 /* of struct pp_blame_wait *: innermost last */
	/* Its last arrival at a barrier, or condition wait, whose end will tell the call path. */
	struct pp_blame_instance *unresolved;
	bool has_exited;
	int64_t exit_ns;
	struct pp_blame_cause exit;
	struct pp_blame_interval recent[PP_BLAME_RECENT]; /* a ring */
	unsigned n_recent;
};

struct pp_blame {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	GPtrArray *threads; /* by serial; NULL: none yet */
	struct pp_lost_threads lost;
	struct pp_idle idle;
};

struct pp_blame_thread *pp_blame_thread(struct pp_blame *blame, const struct pp_thread *thread);
void pp_blame_thread_free(void *thread);
enum pp_mode pp_blame_mode(const struct pp_blame *blame, const struct pp_thread *thread);
void pp_blame_remember(struct pp_blame_thread *of, const struct pp_interval *interval);
/*
 * Finds the modes of the thread in that time: sets ns to the selected time, and its parts as far as
 * they are remembered.
 */
void pp_blame_activity(struct pp_blame *blame, const struct pp_thread *thread, int64_t from_ns,
		       int64_t to_ns, struct pp_blame_figures *ret);

/* --- locks: holds.c --------------------------------------------------------------------------- */

/* Runs the clocks of the holds up to now. `changing` is in `mode` since its last change. */
void pp_blame_run(struct pp_blame *blame, struct pp_blame_place *place, int64_t now_ns,
		  const struct pp_thread *changing, enum pp_mode mode);
void pp_blame_lock_waits(struct pp_blame *blame, struct pp_blame_wait *wait);
void pp_blame_lock_operation(struct pp_blame *blame, struct pp_blame_place *place,
			     const struct pp_operation *operation, bool acquired);
void pp_blame_lock_released(struct pp_blame *blame, struct pp_blame_place *place,
			    const struct pp_hold *hold, int64_t end_ns,
			    const struct pp_operation *operation);
void pp_blame_lock_dropped(struct pp_blame *blame, struct pp_blame_place *place,
			   const struct pp_thread *thread);
/* After all events: the holds that are left have no release. */
void pp_blame_lock_finish(struct pp_blame *blame, struct pp_blame_place *place);
/* The wait ends now: charges it to the holds that have not ended yet, and takes it off the lock. */
void pp_blame_lock_settle(struct pp_blame_wait *wait);
/* Takes it off the lock without a charge. */
void pp_blame_lock_leave(struct pp_blame_wait *wait);
/* Charges rest_ns of selected time in which nobody held the lock. */
void pp_blame_lock_rest(struct pp_blame *blame, const struct pp_blame_wait *wait,
			const struct pp_blame_call *waiter, int64_t rest_ns, bool has_charges);

/* --- other objects: calls.c ------------------------------------------------------------------- */

void pp_blame_call_made(struct pp_blame *blame, struct pp_blame_place *place,
			const struct pp_operation *operation, bool acquired);
/* The thread ends, by a thread_exit. */
void pp_blame_call_exit(struct pp_blame *blame, const struct pp_operation *operation);
void pp_blame_call_waits(struct pp_blame *blame, struct pp_blame_wait *wait,
			 const struct pp_operation *operation);
void pp_blame_call_waking(struct pp_blame *blame, const struct pp_event *event);
void pp_blame_call_settle(struct pp_blame *blame, struct pp_blame_wait *wait,
			  const struct pp_operation *operation, const struct pp_blame_call *waiter,
			  int64_t wait_ns);

/* --- idle waits: idle.c ------------------------------------------------------------------------
 */

/* A selected wait of selected wait_ns has ended. */
void pp_blame_idle_add(struct pp_blame *blame, struct pp_blame_place *place,
		       const struct pp_operation *operation, bool counts, int64_t wait_ns);
void pp_blame_idle_fold(struct pp_blame_place *to, const struct pp_blame_place *from);
/* The idle part of a cell's time, after the end. */
int64_t pp_blame_idle_part(const struct pp_blame_place *place, const struct pp_blame_cell *cell);

#endif
