/* SPDX-License-Identifier: MIT */
/*
 * For how many holders of a lock each acquisition waits (paper 001, section 2.2: w_c).
 *
 * A wait is for those who hold the lock when it begins, and for those who acquire it before it
 * ends.  Their threads are w: so many copies of the critical section would run at the same time.  A
 * thread that acquires an unfair lock several times meanwhile is one of them, but each of its holds
 * contains our cost of recording.
 *
 * The threads of a lock are in a list, the last one to acquire it first.  Those that acquired it
 * during a wait are the first ones of the list, so counting them takes a step for each.
 */
#ifndef PP_ANALYSIS_OCC_QUEUE_H
#define PP_ANALYSIS_OCC_QUEUE_H

#include <stdint.h>

#include "analysis/occ/numbers.h"

/* A zeroed one is that of a lock which nobody has used. */
struct pp_occ_queue {
	struct pp_occ_numbers numbers;
	GArray *threads; /* of struct thread, by position; NULL: none */
	uint64_t n;	 /* acquisitions so far */
	unsigned first;	 /* 1 + position of the last thread to acquire the lock; 0: none */
};

struct pp_occ_waited {
	uint64_t n_threads; /* for so many others the thread waited */
	uint64_t n_holds;   /* ... and so many of their holds */
};

void pp_occ_queue_done(struct pp_occ_queue *queue);

/*
 * The thread begins to wait; then pp_occ_queue_holds() is called for each other thread that holds
 * the lock.
 */
void pp_occ_queue_waits(struct pp_occ_queue *queue, unsigned thread);
void pp_occ_queue_holds(struct pp_occ_queue *queue, unsigned waiter, unsigned holder);

/*
 * The wait ends, with or without success: to be called before pp_occ_queue_acquired().  There was
 * one holder at least, also if its acquisition was not recorded.
 */
struct pp_occ_waited pp_occ_queue_ends(struct pp_occ_queue *queue, unsigned thread);

void pp_occ_queue_acquired(struct pp_occ_queue *queue, unsigned thread);

#endif
