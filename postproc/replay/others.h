/* SPDX-License-Identifier: MIT */
/*
 * Tells whether there were other programs, and for models without delays (delays.h), how many.
 *
 * Estimates how many threads of other programs wanted a CPU: so many that, if all that want one
 * have a fair share, the program's threads get the CPU time that they had.
 *
 * A thread that is ready waits for other programs only while a CPU runs one of them, as far as the
 * program's own switches tell. It does not if it comes to a CPU that was idle: an idle CPU of a
 * virtual machine can take as long to run again as another program's turn.
 */
#ifndef PP_REPLAY_OTHERS_H
#define PP_REPLAY_OTHERS_H

#include <stdbool.h>
#include <stdint.h>

struct pp_replay_others;

struct pp_replay_others *pp_replay_others_new(void);
void pp_replay_others_free(struct pp_replay_others *others);

/* A CPU begins to run another program, or ends to do so. */
void pp_replay_others_take(struct pp_replay_others *others, int cpu, int64_t at_ns, bool is_taken);

/* A thread of the program was on a CPU in this time, or was ready without one. */
void pp_replay_others_add(struct pp_replay_others *others, int64_t start_ns, int64_t end_ns,
			  bool is_running);

/* Returns the average, in thousandths. */
uint32_t pp_replay_others_count(struct pp_replay_others *others, uint32_t n_cpus);

#endif
