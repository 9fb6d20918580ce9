/* SPDX-License-Identifier: MIT */
/*
 * Tells idle waits from waits that hold the program back.
 *
 * A wait is idle if nothing was held and nobody depended on the waiter:
 * - its object is a condition variable, a semaphore, or a thread to join;
 * - it was not ended by a peer, a thread that waits there itself: then the object is used as a
 *   lock, or threads take turns.  For a condition variable that is a thread that waits for it at
 *   the same call site; for one that its only waiter destroys, a thread that waits with the same
 *   mutex for another such one: a queue in which each thread has its own.  For a semaphore, it is a
 *   thread that also acquires it.  A wait that nothing ended, or a timeout, has no peer;
 * - meanwhile no thread waited for a lock that the waiter held: such a part of the wait is not
 *   idle;
 * - the waiter and the thread that ended the wait do not hand over to each other (handover.h).
 *
 * A blocking call is idle if it waits for time, for any of several inputs, for a connection, a
 * child or a signal (pp_io_is_idle), except for the time in which a thread waited for a lock that
 * the caller held.
 *
 * So a worker without work, a thread that waits for its workers or for time, and a producer whose
 * queue is full are idle; the cause of such a wait is elsewhere, in what the others did.  Whether a
 * thread is a peer is known at the end only, so idle time is added up by the thread that ended it.
 */
#ifndef PP_ANALYSIS_STATE_IDLE_H
#define PP_ANALYSIS_STATE_IDLE_H

#include "analysis/pass.h"
#include "analysis/site_set.h"
#include "analysis/state/handover.h"
#include "analysis/state/object_state.h"
#include "analysis/state/turns.h"

struct pp_idle {
	const struct pp_pass_context *context;
	GPtrArray *threads;	   /* by thread serial; NULL: holds nothing that others wait for */
	GHashTable *waited_for;	   /* a set of locks that were waited for while held */
	struct pp_site_set owners; /* of struct pp_site_key: mutex, and thread that waited with it
				      for a condition variable of its own */
	struct pp_turns turns;
	struct pp_handovers handovers;
};

/* The state of a condition variable or a semaphore. */
struct pp_idle_object {
	struct pp_site_set peers;      /* of struct pp_site_key: thread, and call site */
	const struct pp_thread *waker; /* the last one; NULL: none yet */
	int64_t waker_ns;
	const struct pp_thread *waiter; /* the only one; NULL: none yet, or several */
	bool has_waited;
	uint64_t mutex;			  /* of its wait */
	const struct pp_site_set *owners; /* NULL: its waiter did not destroy it */
	const struct pp_handovers *handovers;
	const struct pp_turns *turns; /* NULL: no thread ended a wait of its only waiter */
};

/* The sums of waits, by the thread that ended them. */
struct pp_idle_sums {
	struct pp_site_set by_waker;
};

/* Idle time, if no peer ended it. */
struct pp_idle_total {
	uint64_t n;
	int64_t ns, runnable_ns;
};

static inline void pp_idle_total_add(struct pp_idle_total *sum, const struct pp_idle_total *total)
{
	sum->n += total->n;
	sum->ns += total->ns;
	sum->runnable_ns += total->runnable_ns;
}

void pp_idle_init(struct pp_idle *idle, const struct pp_pass_context *context);
void pp_idle_done(struct pp_idle *idle);
void pp_idle_object_free(struct pp_idle_object *of);
void pp_idle_sums_done(struct pp_idle_sums *sums);

/* To be called from the callbacks of the same names of struct pp_object_listener. */
void pp_idle_waits(struct pp_idle *idle, const struct pp_object *object,
		   const struct pp_operation *operation);
void pp_idle_released(struct pp_idle *idle, const struct pp_object *object,
		      const struct pp_hold *hold, int64_t end_ns);
/* The object is about to be freed, before the end. */
void pp_idle_forget(struct pp_idle *idle, const struct pp_object *object);
/* *of belongs to the object; it is created where needed. */
void pp_idle_operation(struct pp_idle *idle, struct pp_idle_object **of,
		       const struct pp_object *object, const struct pp_operation *operation,
		       bool acquired);

/*
 * Adds an operation that may be idle to the sums of its call site.  To be called after
 * pp_idle_operation(). counts: the operation is selected; wait_ns: the selected part of its wait.
 */
void pp_idle_add(const struct pp_idle *idle, const struct pp_idle_object *of,
		 struct pp_idle_sums *sums, const struct pp_object *object,
		 const struct pp_operation *operation, bool counts, int64_t wait_ns);

/* A blocking call begins: to be called from the callback of struct pp_thread_listener. */
void pp_idle_io_begin(const struct pp_idle *idle, const struct pp_io *io);

/* The idle part of a blocking call that has ended; wait_ns: the selected part of its time. */
int64_t pp_idle_io_ns(const struct pp_idle *idle, const struct pp_io *io, int64_t wait_ns);

/* Adds the idle part of the sums of that call site.  To be called after all events. */
void pp_idle_get(const struct pp_idle_object *of, const struct pp_object *object,
		 const struct pp_idle_sums *sums, uint64_t site, struct pp_idle_total *total);

#endif
