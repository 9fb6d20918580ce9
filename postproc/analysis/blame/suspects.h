/* SPDX-License-Identifier: MIT */
/*
 * Shares the idleness of waiting threads among those that work meanwhile (paper 002, suspects).
 *
 * At each instant, a thread that lives and waits for a synchronization object is idle.  Other
 * threads work, whether or not they have a CPU.  By process, these are counted:
 * - I_l: idle threads that wait for a lock: a mutex, a read-write lock or a spin lock;
 * - I_c: the other idle threads.  They wait for a condition (until the mutex is acquired again), a
 *   semaphore, a barrier, the end of a thread, or an initialization;
 * - W_l: working threads that hold a lock, also one that a condition wait acquired again;
 * - W_co: working threads that hold none.  Not counted are those in blocking calls that wait for
 *   something outside of the program (pp_io_is_idle): they cannot end a wait.
 * Each thread in W_l is charged I_l / W_l of the time, each in W_co I_c / W_co.  While the set is
 * empty, the idleness has no suspect.
 *
 * A thread's time is charged to the path of its next sample, taken while it works.  Without one (it
 * slept, or its process has no samples with call paths), it is charged to its next synchronization
 * call, and without that to no path.
 *
 * The paper differs in three respects.  It takes the shares when it takes samples, where ours are
 * integrated over time.  It counts a thread as W_co if the mutex that it holds belongs to a
 * condition; we do not, since others may wait for that mutex.  And it knows no blocking calls.  A
 * semaphore is no lock here, as it is known only later whether it is used as one.
 *
 * All figures together are the waits in section `locks`, to the nanosecond.  A wait whose end was
 * not recorded has no length there, but was shared until it was given up; `correction_ns` has the
 * difference.  Memory is bounded by the numbers of threads, of objects that exist, and of different
 * calls of each thread.
 */
#ifndef PP_ANALYSIS_BLAME_SUSPECTS_H
#define PP_ANALYSIS_BLAME_SUSPECTS_H

#include "analysis/blame/suspect_cells.h"

#define PP_SUSPECTS_KINDS (PP_THREAD_STATE_KINDS | PP_EVENT_MASK(PP_EVENT_SAMPLE))

/* The selected idleness: that of the suspects, and the rest. */
struct pp_suspect_sums {
	int64_t nobody_ns[PP_N_SUSPECT_KINDS];
	int64_t correction_ns; /* to be added; may be negative */
};

/* False with a selection of objects or of a least wait, which are known too late. */
bool pp_suspects_can(const struct pp_pass_context *context);

struct pp_suspects;

struct pp_suspects *pp_suspects_new(const struct pp_pass_context *context);
void pp_suspects_free(struct pp_suspects *suspects); /* may be NULL */
void pp_suspects_event(struct pp_suspects *suspects, const struct pp_event *event);
void pp_suspects_finish(struct pp_suspects *suspects, int64_t end_ns);

/* After the end: in order of appearance, and the rest. */
void pp_suspects_walk(const struct pp_suspects *suspects,
		      void (*take)(void *data, const struct pp_suspect *suspect), void *data);
struct pp_suspect_sums pp_suspects_sums(const struct pp_suspects *suspects);

#endif
