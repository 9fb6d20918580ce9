/* SPDX-License-Identifier: MIT */
/*
 * The begin and end of threads as the model has them before the events are read.  A thread that
 * computes may have no events in between.
 */
#ifndef PP_ANALYSIS_BLAME_TRANSITIONS_H
#define PP_ANALYSIS_BLAME_TRANSITIONS_H

#include "core/model.h"

struct pp_transition {
	int64_t time_ns;
	const struct pp_thread *thread;
	bool is_end;
};

/* The end of the thread, or of its process; PP_TIME_UNKNOWN. */
int64_t pp_transition_end_ns(const struct pp_thread *thread);

/* All that are known, of struct pp_transition, in order of time.  The caller unrefs the array. */
GArray *pp_transitions_new(const struct pp_model *model);

#endif
