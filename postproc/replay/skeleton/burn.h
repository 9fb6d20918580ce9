/* SPDX-License-Identifier: MIT */
/*
 * Uses CPU time of the calling thread.
 *
 * A burner keeps the balance of the CPU time that its thread is to use and of the CPU time that it
 * has used, so errors do not add up, and the operations in between are paid from the same time.
 * Short times are loops of known speed. The thread's CPU clock, a system call, is read after
 * PP_BURN_UNREAD_NS at most; it corrects the balance, the speed, and the cost of an operation. Time
 * in which the thread has no CPU does not count.
 *
 * A burner belongs to one thread.
 */
#ifndef PP_REPLAY_SKELETON_BURN_H
#define PP_REPLAY_SKELETON_BURN_H

#include <stdint.h>

#define PP_BURN_UNREAD_NS 100000

struct pp_burner {
	double loops_per_ns;
	double operation_ns; /* of the thread's time between two calls, on average */
	int64_t due_ns;	     /* to be used, since the begin */
	int64_t excluded_ns; /* of the CPU clock: before the begin, in pauses, and as told */
	int64_t owed_ns;     /* due, and not yet used as far as known */
	int64_t read_ns;     /* the clock when it was read last */
	int64_t burned_ns;   /* by loops, since then */
	unsigned n_calls;    /* since then */
};

/* Returns the speed of the loop, in loops per ns. Takes about 2 ms. */
double pp_burn_calibrate(void);

void pp_burner_init(struct pp_burner *burner, double loops_per_ns);

/* Another so many ns are due. Returns when they are used. */
void pp_burn(struct pp_burner *burner, uint64_t ns);

/* CPU time between these calls is not counted. */
void pp_burner_pause(struct pp_burner *burner);
void pp_burner_resume(struct pp_burner *burner);

/* So much CPU time is not counted, which is used about now. */
void pp_burner_exclude(struct pp_burner *burner, int64_t ns);

/* Corrects the balance by the clock. */
void pp_burner_read(struct pp_burner *burner);

#endif
