/* SPDX-License-Identifier: MIT */
/*
 * The order of each lock's acquisitions by their numbers ([sync] order), which were taken while the
 * lock was held. Steps get their ranks by time, and times of two CPUs differ by nanoseconds.
 */
#ifndef PP_REPLAY_NUMBERS_H
#define PP_REPLAY_NUMBERS_H

#include "replay/model.h"

struct pp_replay_numbers;

struct pp_replay_numbers *pp_replay_numbers_new(void);
void pp_replay_numbers_free(struct pp_replay_numbers *numbers);

/*
 * An acquisition of the object: steps[at], of struct pp_replay_step. number: its number; 0: not
 * known.
 */
void pp_replay_numbers_add(struct pp_replay_numbers *numbers, uint32_t object, uint64_t number,
			   bool is_shared, GArray *steps, uint32_t at);

/*
 * Exchanges the ranks of the acquisitions of each object so that they are in the order of the
 * numbers; not of an object with an acquisition without a number.
 */
void pp_replay_numbers_apply(struct pp_replay_numbers *numbers);

#endif
