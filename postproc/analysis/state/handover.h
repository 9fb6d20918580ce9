/* SPDX-License-Identifier: MIT */
/*
 * Two threads that hand over to each other: one works, and the other waits for its result, so that
 * they hardly ever work at the same time, and their waits add up to the time of the program.
 *
 * A turn of a thread begins when it has waited for a condition variable or a semaphore, or acquired
 * a semaphore without a wait, and ends when it wakes the other thread.  Turns alternate if, for the
 * third time in succession or more often, a thread gets its turn from the one to which it gave it,
 * and neither woke another thread meanwhile, nor waited for anything else but locks.  Two threads
 * hand over if, in all alternating turns of both together, they waited for at least half of the
 * other one's.
 */
#ifndef PP_ANALYSIS_STATE_HANDOVER_H
#define PP_ANALYSIS_STATE_HANDOVER_H

#include "analysis/site_set.h"
#include "analysis/state/thread_state.h"

struct pp_handovers {
	GArray *threads;	  /* by serial */
	struct pp_site_set pairs; /* of threads with alternating turns */
};

void pp_handovers_init(struct pp_handovers *handovers);
void pp_handovers_done(struct pp_handovers *handovers);

/* The thread woke so many threads. */
void pp_handovers_wakes(struct pp_handovers *handovers, const struct pp_thread *thread,
			unsigned n_woken);

/*
 * The thread of the operation waited for something but a lock, or acquired a semaphore, which an
 * operation of `waker` at that time made possible; NULL: not known.
 */
void pp_handovers_got(struct pp_handovers *handovers, const struct pp_operation *operation,
		      const struct pp_thread *waker, int64_t waker_ns);

/* True if the operation, its thread's last one of these, began an alternating turn. */
bool pp_handovers_alternate(const struct pp_handovers *handovers,
			    const struct pp_operation *operation);

/* True if the threads with these serial numbers hand over.  To be called after all events. */
bool pp_handovers_has(const struct pp_handovers *handovers, uint32_t thread, uint32_t other);

#endif
