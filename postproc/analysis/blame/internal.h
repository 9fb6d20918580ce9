/* SPDX-License-Identifier: MIT */
/* Shared by the files of this folder. */
#ifndef PP_ANALYSIS_BLAME_INTERNAL_H
#define PP_ANALYSIS_BLAME_INTERNAL_H

#include "analysis/blame/blame.h"
#include "analysis/state/idle.h"

/* Intervals of a thread that are remembered. */
#define PP_BLAME_RECENT 32u

struct pp_blame_past;
struct pp_blame_place;
struct pp_blame_ref;
struct pp_blame_round;
struct pp_blame_thread;

/* --- causes and charges: causes.c --- */

/* Time in units of 2^-32 ns, of which the holds of a lock have equal shares. */
typedef unsigned __int128 pp_blame_units;

struct pp_blame_clock {
	pp_blame_units mode[PP_N_MODES];
};

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
	struct pp_blame_place *place;
	struct pp_blame_cause cause;
	GArray *pending; /* of struct pp_blame_pending; NULL: none */
	/* A hold (clocks.c): */
	int64_t since_ns;
	guint at;		     /* its position among those of the place */
	pp_blame_units since, seen;  /* the lock's clock since when, and up to when it is in: */
	struct pp_blame_clock clock; /* its share of the time since it is watched */
	uint64_t n_begun;	     /* waits that had begun when it last took over time */
	GArray *marks;		     /* of struct pp_blame_mark; NULL: none */
	guint n_marks;		     /* ... that were needed when the others were dropped */
	/* Nested blame, until the cause is known; NULL: none. */
	GArray *nested; /* of struct pp_blame_part: of ended waits that are charged to it */
	GArray *cells;	/* of struct pp_blame_nested: that are charged to it one step further */
};

struct pp_blame_charge {
	struct pp_blame_cause cause;
	struct pp_blame_instance *instance; /* NULL: `cause` is valid */
	struct pp_blame_figures figures;
};

/* The clock of a hold when the lock's was `at`, and the mode in which it ran then. */
struct pp_blame_mark {
	pp_blame_units at;
	struct pp_blame_clock clock;
	enum pp_mode mode;
	bool is_needed;
};

struct pp_blame_wait {
	struct pp_blame_place *place;
	const struct pp_thread *thread;
	uint64_t site;
	int64_t begin_ns;
	enum st_event op;
	guint at;	/* its position among those of the place */
	bool is_orphan; /* its object no longer exists */
	bool counts;	/* its end is selected */
	/* Locks: */
	bool has_owner;	       /* a hold that may be the owner's is known, or has ended */
	uint32_t owner_tid;    /* as recorded in the lock; 0: not known */
	int64_t free_begin_ns; /* the place's free_ns at its begin */
	int64_t free_seen_ns;  /* ... at the thread's last change of mode */
	int64_t runnable_ns;   /* ready without a CPU while nobody held the object */
	int64_t no_owner_ns;   /* until the first hold, which was not the owner's */
	pp_blame_units begin;  /* the lock's clock at its begin */
	uint32_t fraction;     /* units of its charges that are not charged yet */
	/* Others: */
	guint arrival;		      /* at a barrier: its position in the round */
	struct pp_blame_round *round; /* NULL: none */
	int64_t covered_ns;	      /* charged up to that time */
	uint64_t mutex;		      /* of a condition wait; 0: none */
	struct pp_blame_cause wake;
	const struct pp_thread *waker; /* NULL: no call that may have ended the wait */
	int64_t woken_ns;
	bool is_woken;		      /* by the thread that made the call */
	bool is_called;		      /* a call that may have ended the wait was made */
	bool is_posted;		      /* ... by a thread that held the semaphore */
	guint n_joined;		      /* charges when they were last joined */
	GArray *charges;	      /* of struct pp_blame_charge; NULL: none */
	struct pp_blame_wait *second; /* for the mutex; NULL: none */
	/* Nested blame: nested.c */
	GArray *nested;			  /* for which holds; NULL: none */
	struct pp_blame_instance *before; /* its cause until it was woken; NULL: not needed */
	struct pp_blame_instance *rest;	  /* ... and from then on, or without a holder */
};

struct pp_blame_cause pp_blame_cause_of(const struct pp_operation *operation);
void pp_blame_figures_add(struct pp_blame_figures *sum, const struct pp_blame_figures *figures);
bool pp_blame_call_equal(const struct pp_blame_call *a, const struct pp_blame_call *b);
bool pp_blame_cause_equal(const struct pp_blame_cause *a, const struct pp_blame_cause *b);

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

/* A lock with waiters. */
struct pp_blame_watch {
	GPtrArray *holds;      /* of struct pp_blame_instance * */
	GHashTable *by_thread; /* ... if they are many, else NULL */
	guint n_active;
	guint n_superseded;   /* the object's, when its holds were last followed */
	guint n_ownerless;    /* open waits without a known owner */
	bool may_rest;	      /* its last waiter has gone */
	uint64_t n_begun;     /* waits so far */
	int64_t until_ns;     /* the clock has run up to then */
	int64_t free_ns;      /* time without a hold */
	pp_blame_units clock; /* share of a hold in the time with holds */
	uint64_t rest;	      /* units that are not in the clock yet */
};

/* struct pp_object.data */
struct pp_blame_place {
	struct pp_object *object;
	GPtrArray *waits;	      /* of struct pp_blame_wait *, open; NULL: none yet */
	struct pp_blame_watch *watch; /* NULL: no waits for the lock yet */
	GHashTable *cells;
	GPtrArray *rounds;		   /* of a barrier, not over; NULL: none yet */
	GHashTable *waiters;		   /* of idle.c */
	struct pp_idle_object *idle;	   /* NULL: none of its waits is idle */
	GHashTable *units;		   /* thread -> struct pp_blame_unit; NULL: none yet */
	unsigned n_unresolved;		   /* instances whose call is known later */
	int64_t wait_ns;		   /* in all cells */
	struct pp_blame_ref *ref;	   /* in nested blame; NULL: none */
	GHashTable *nested;		   /* a set of struct pp_blame_nested *; NULL: none */
	guint nested_max;		   /* cells, until equal ones are joined */
	const struct pp_thread *former[2]; /* threads whose holds have ended, the last one first */
	uint64_t former_done[2];	   /* their numbers of operations then */
};

struct pp_blame_instance *pp_blame_instance_new(struct pp_blame_place *place,
						const struct pp_thread *thread);
void pp_blame_instance_unref(struct pp_blame_instance *instance);
struct pp_blame_place *pp_blame_place_of(struct pp_object *object);
struct pp_blame_wait *pp_blame_wait_new(struct pp_blame_place *place,
					const struct pp_thread *thread, enum st_event op,
					uint64_t site, int64_t begin_ns);
/* The wait is open, or no longer. */
void pp_blame_wait_enter(struct pp_blame_wait *wait);
void pp_blame_wait_leave(struct pp_blame_wait *wait);
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
	GPtrArray *held; /* of struct pp_blame_instance *: its active holds */
	GArray *waits;	 /* of struct pp_blame_wait *: innermost last */
	/* Its last arrival at a barrier, or condition wait, whose end will tell the call path. */
	struct pp_blame_instance *unresolved;
	bool has_exited;
	int64_t exit_ns;
	struct pp_blame_cause exit;
	struct pp_blame_interval recent[PP_BLAME_RECENT]; /* a ring */
	unsigned n_recent;
	int64_t blocked_ns; /* selected time in PP_MODE_BLOCKED_SYNC; not the interval in it */
	struct pp_blame_past *past; /* NULL: it has acquired no semaphore */
};

struct pp_blame {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	GPtrArray *threads; /* by serial; NULL: none yet */
	unsigned n_held;    /* active holds of watched locks */
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

/* --- the clocks of holds: clocks.c ------------------------------------------------------------ */

/* Runs the clock of the lock up to now. */
void pp_blame_run(struct pp_blame *blame, struct pp_blame_place *place, int64_t now_ns);
/* Brings the clock of the hold up to that of the lock. */
void pp_blame_take_over(const struct pp_blame *blame, struct pp_blame_instance *hold);
/* Runs both clocks through an interval of the hold's thread. */
void pp_blame_thread_ran(struct pp_blame *blame, struct pp_blame_instance *hold,
			 const struct pp_interval *interval);
/* The clock of the hold since the begin of the wait, which is charged to it once. */
struct pp_blame_figures pp_blame_share(struct pp_blame *blame, struct pp_blame_wait *wait,
				       struct pp_blame_instance *hold);
/* The part of it so far, rounded down, in which its thread was blocked on an object. */
int64_t pp_blame_blocked_ns(const struct pp_blame *blame, const struct pp_blame_wait *wait,
			    struct pp_blame_instance *hold);

/* --- locks: holds.c --------------------------------------------------------------------------- */

void pp_blame_lock_waits(struct pp_blame *blame, struct pp_blame_wait *wait);
/* The owner at the begin of the wait is known. */
void pp_blame_lock_owned(struct pp_blame_wait *wait);
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
void pp_blame_lock_settle(struct pp_blame *blame, struct pp_blame_wait *wait);
/* Charges rest_ns of selected time in which nobody held the lock. */
void pp_blame_lock_rest(struct pp_blame *blame, const struct pp_blame_wait *wait,
			const struct pp_blame_call *waiter, int64_t rest_ns, bool has_charges);

/* --- barriers: barrier.c ---------------------------------------------------------------------- */

/* The thread arrives and waits, or it completes the round. */
void pp_blame_barrier_waits(struct pp_blame *blame, struct pp_blame_wait *wait,
			    const struct pp_operation *operation);
void pp_blame_barrier_passed(struct pp_blame *blame, struct pp_blame_place *place,
			     const struct pp_operation *operation);
/* Is the barrier complete? */
bool pp_blame_is_passed(const struct pp_blame_wait *wait);
/* The wait ends; path: of its call. */
void pp_blame_barrier_ends(struct pp_blame_wait *wait, const struct pp_path *path);
/* Charges the wait.  Returns the time that is charged. */
int64_t pp_blame_barrier_settle(struct pp_blame_wait *wait);
void pp_blame_barrier_leave(struct pp_blame_wait *wait);
/* Adds the charges of waits that have ended to the cells, although others have not. */
void pp_blame_barrier_finish(struct pp_blame_place *place);

/* --- other objects: calls.c ------------------------------------------------------------------- */

void pp_blame_call_made(struct pp_blame *blame, struct pp_blame_place *place,
			const struct pp_operation *operation, bool acquired);
/* The thread ends, by a thread_exit; place: of the thread, NULL if nobody waits for it. */
void pp_blame_call_exit(struct pp_blame *blame, struct pp_blame_place *place,
			const struct pp_operation *operation);
void pp_blame_call_waits(struct pp_blame *blame, struct pp_blame_wait *wait,
			 const struct pp_operation *operation);
/* The wait ends; finds the end of a joined thread. */
void pp_blame_call_ends(struct pp_blame *blame, struct pp_blame_wait *wait,
			const struct pp_operation *operation);
void pp_blame_call_waking(struct pp_blame *blame, const struct pp_event *event);
void pp_blame_call_settle(struct pp_blame *blame, struct pp_blame_wait *wait,
			  const struct pp_operation *operation, const struct pp_blame_call *waiter,
			  int64_t wait_ns);

/* --- blame one step further: nested.c ----------------------------------------------------------
 */

/* The holders of the lock, whose clocks have run up to now, change now. */
void pp_blame_nested_run(struct pp_blame *blame, struct pp_blame_place *place);
/* The lock had no known holder while this thread waited; it had another one from now on. */
void pp_blame_nested_no_owner(struct pp_blame *blame, struct pp_blame_wait *wait);
/* A call was made that may have ended the wait. */
void pp_blame_nested_called(struct pp_blame *blame, struct pp_blame_wait *wait, int64_t now_ns);
/* The wait is charged up to now, to the instance, or if that is NULL to the cause. */
void pp_blame_nested_charge(struct pp_blame *blame, struct pp_blame_wait *wait,
			    const struct pp_blame_cause *cause, struct pp_blame_instance *instance,
			    int64_t now_ns);
/* ... up to now nobody held it. */
void pp_blame_nested_free(struct pp_blame *blame, struct pp_blame_wait *wait, int64_t now_ns);
/* The wait ends, and is not charged yet; is_ended_by_call: of an object that is no lock. */
void pp_blame_nested_end(struct pp_blame *blame, struct pp_blame_wait *wait,
			 const struct pp_operation *operation, bool is_ended_by_call);
/* After all events: the end of the wait was missed. */
void pp_blame_nested_missed(struct pp_blame_wait *wait);
/*
 * The wait is charged to the hold, whose thread was blocked on other objects for sync_ns of that.
 * Then, as the wait ends, adds this to the cells.
 */
void pp_blame_nested_close(struct pp_blame *blame, struct pp_blame_wait *wait,
			   struct pp_blame_instance *hold, int64_t sync_ns);
/* The same for the thread that has posted a semaphore, and had held up the wait in that time. */
void pp_blame_nested_posted(struct pp_blame *blame, struct pp_blame_wait *wait,
			    const struct pp_blame_cause *cause, const struct pp_thread *thread,
			    int64_t from_ns, int64_t to_ns, int64_t sync_ns);
void pp_blame_nested_settle(struct pp_blame_wait *wait);

/* A hold for which a wait is, and whose thread is or was blocked meanwhile. */
struct pp_blame_behind {
	struct pp_blame_instance *hold; /* NULL: its cause is known, it has ended: */
	struct pp_blame_cause cause;
	int64_t done_ns;   /* blocked time that is in `parts` */
	int64_t called_ns; /* ... up to the last call that may have ended the thread's wait */
	int64_t seen_ns;   /* ... that is also in `since` */
	GArray *parts;	   /* of struct pp_blame_part */
	GArray *since;	   /* ... since that call, while the thread waited for its mutex */
};

/* --- the last waits of a thread that holds a semaphore: past.c ---------------------------------
 */

/* The thread acquires a semaphore. */
void pp_blame_past_begin(struct pp_blame *blame, const struct pp_thread *thread, int64_t now_ns);
/* It begins to wait. */
void pp_blame_past_waits(struct pp_blame *blame, const struct pp_thread *thread, int64_t now_ns);
/*
 * The time since the last stretch, to which the causes of its wait are added up to
 * *ret_blocked_ns.  NULL: the thread does not remember its waits.
 */
struct pp_blame_behind *pp_blame_past_now(struct pp_blame *blame, const struct pp_thread *thread,
					  int64_t now_ns, int64_t *ret_blocked_ns);
/* This was done, up to now. */
void pp_blame_past_end(struct pp_blame *blame, const struct pp_thread *thread, int64_t now_ns);
/*
 * Returns the remembered causes of its waits in that time, of struct pp_blame_part; NULL: none.
 * The caller frees them.
 */
GArray *pp_blame_past_parts(struct pp_blame *blame, const struct pp_thread *thread, int64_t from_ns,
			    int64_t to_ns);
void pp_blame_past_posted(struct pp_blame *blame, const struct pp_thread *thread);
void pp_blame_past_free(struct pp_blame_past *past);

/* --- its parts and cells: nested_cells.c -------------------------------------------------------
 */

/* An object, also after it was folded into another one. */
struct pp_blame_ref {
	unsigned refs;
	struct pp_blame_place *place; /* NULL: folded */
	struct pp_blame_ref *to;      /* ... into this one */
};

/* Time that a thread was blocked on an object, and what it is charged to there. */
struct pp_blame_part {
	struct pp_blame_ref *object; /* NULL: not known */
	struct pp_blame_cause cause;
	struct pp_blame_instance *instance; /* NULL: `cause` is valid */
	int64_t ns;
};

/* A cell: the thread to blame was blocked. */
struct pp_blame_nested {
	struct pp_blame_ref *of; /* the blamed object; NULL in a cell of that object */
	struct pp_blame_cause blamed;
	struct pp_blame_part part; /* without an instance */
};

struct pp_blame_ref *pp_blame_ref_of(struct pp_blame_place *place);
/* Adds to the list (NULL: none yet), to an equal part if there is one. */
void pp_blame_part_add(GArray **parts, struct pp_blame_place *place,
		       const struct pp_blame_cause *cause, struct pp_blame_instance *instance,
		       int64_t ns);
/* Adds ns of an earlier part. */
void pp_blame_part_add_again(GArray **parts, const struct pp_blame_part *part, int64_t ns);
/* Moves all parts. */
void pp_blame_parts_move(GArray **to, GArray **from);
void pp_blame_behind_clear(void *behind);
/* Everything up to sync_ns is in the parts. */
void pp_blame_behind_set_done(struct pp_blame_behind *behind, int64_t sync_ns);
/* Adds the parts of a wait's time that is charged to the cause; empties the list. */
void pp_blame_nested_add(struct pp_blame_place *place, const struct pp_blame_cause *blamed,
			 GArray **parts);
/* The instance is resolved: its nested time goes on. */
void pp_blame_nested_resolved(struct pp_blame_instance *instance);
void pp_blame_nested_fold(struct pp_blame_place *to, struct pp_blame_place *from);
void pp_blame_nested_place_free(struct pp_blame_place *place);

/* --- idle waits: idle.c ------------------------------------------------------------------------
 */

/* A selected wait of selected wait_ns has ended. */
void pp_blame_idle_add(struct pp_blame *blame, struct pp_blame_place *place,
		       const struct pp_operation *operation, bool counts, int64_t wait_ns);
void pp_blame_idle_fold(struct pp_blame_place *to, const struct pp_blame_place *from);
/* The idle part of a cell's time, after the end. */
int64_t pp_blame_idle_part(const struct pp_blame_place *place, const struct pp_blame_cell *cell);

#endif
