/* SPDX-License-Identifier: MIT */
/*
 * For how many holders of a lock each acquisition waits (paper 001, section 2.2: w_c): for those
 * who hold the lock when the wait begins, and those who acquire it before the wait ends.
 *
 * Its mean over all acquisitions is the number of threads that wait during a hold, so many copies
 * of the section would run at the same time as this one.  With an unfair lock, a thread may enter
 * the section a hundred times while another one waits: that is one wait for a hundred holders, and
 * a hundred acquisitions without a wait, so 0.99 on average.
 */
#ifndef PP_ANALYSIS_OCC_QUEUE_H
#define PP_ANALYSIS_OCC_QUEUE_H

#include <stdint.h>

#include "analysis/occ/numbers.h"

/* A zeroed one is that of a lock which nobody has used. */
struct pp_occ_queue {
	struct pp_occ_numbers numbers;
	GArray *before; /* of uint64_t, by position: for the thread that waits; NULL: none */
	uint64_t n;	/* acquisitions so far */
};

void pp_occ_queue_done(struct pp_occ_queue *queue);

/* The thread begins to wait, while so many others hold the lock. */
void pp_occ_queue_waits(struct pp_occ_queue *queue, unsigned thread, unsigned n_holders);

/*
 * The wait ends, with or without success: to be called before pp_occ_queue_acquired().  Returns the
 * number of holders: one at least, also if its acquisition was not recorded.
 */
uint64_t pp_occ_queue_ends(struct pp_occ_queue *queue, unsigned thread);

void pp_occ_queue_acquired(struct pp_occ_queue *queue);

#endif
