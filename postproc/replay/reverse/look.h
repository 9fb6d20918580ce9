/* SPDX-License-Identifier: MIT */
/* Finds the memory that two sections, named by their operations, have accessed in a replay. */
#ifndef PP_REPLAY_REVERSE_LOOK_H
#define PP_REPLAY_REVERSE_LOOK_H

#include "analysis/pass.h"
#include "replay/live/schedule.h"

struct pp_reversal_look;

/* The sections began with these operations of two threads. The context is borrowed. */
struct pp_reversal_look *pp_reversal_look_new(const struct pp_pass_context *context,
					      uint64_t first_op, uint64_t second_op);
void pp_reversal_look_free(struct pp_reversal_look *look);

/* As in finder.h. */
void pp_reversal_look_event(struct pp_reversal_look *look, const struct pp_event *event,
			    uint64_t op);

/*
 * After all events: the lines of both sections (lines.h), of the threads with these numbers in the
 * schedule of the run. NULL: the accesses of one are not known, or not all. The caller unrefs it.
 */
GArray *pp_reversal_look_lines(const struct pp_reversal_look *look,
			       const struct pp_schedule *schedule, uint32_t first_thread,
			       uint32_t second_thread);

#endif
