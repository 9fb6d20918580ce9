/* SPDX-License-Identifier: MIT */
/*
 * The CPU time that recording adds to each operation: a part of the recorded steps, but not of a
 * program that is not recorded.
 */
#ifndef PP_REPLAY_RECORDING_H
#define PP_REPLAY_RECORDING_H

#include "replay/model.h"

/* The time that was taken out of steps, of that many. */
struct pp_replay_taken_out {
	uint64_t ns, n_steps;
};

/*
 * Takes model->recording_ns out of each step that ends with an operation, and of the time that a
 * thread needs to block; it is 0 afterwards. A step that is shorter gets the time 0.
 */
struct pp_replay_taken_out pp_replay_take_out_recording(struct pp_replay_model *model);

#endif
