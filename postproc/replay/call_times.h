/* SPDX-License-Identifier: MIT */
/*
 * Finds from the history of calls, for each step, the part of its CPU time that is in a function
 * and those that it calls. Threads whose returns are not recorded are left out.
 */
#ifndef PP_REPLAY_CALL_TIMES_H
#define PP_REPLAY_CALL_TIMES_H

#include "analysis/pass.h"
#include "core/event.h"
#include "replay/gaps.h"
#include "replay/model.h"

struct pp_replay_call_times;

/*
 * functions: of const char *, patterns of names; borrowed. has_returns(data, serial): the thread's
 * returns are recorded.
 */
struct pp_replay_call_times *
pp_replay_call_times_new(const struct pp_pass_context *context, const GPtrArray *functions,
			 bool (*has_returns)(const void *data, uint32_t serial), const void *data);
void pp_replay_call_times_free(struct pp_replay_call_times *times);

/* The thread enters or leaves a function; so far, its present step has that CPU time. */
void pp_replay_call_times_event(struct pp_replay_call_times *times, const struct pp_event *event,
				uint64_t cpu_ns);

/* The thread with that serial number ends a step. */
void pp_replay_call_times_step(struct pp_replay_call_times *times, uint32_t serial, uint32_t step,
			       uint64_t cpu_ns);

/* That part of the CPU time of the thread's present step is no longer wanted. */
void pp_replay_call_times_skip(struct pp_replay_call_times *times, uint32_t serial,
			       uint64_t cpu_ns);

/*
 * Adds functions and parts to the model, unless no return was recorded, and counts what is missing.
 * number_of(): the number of a thread in the model, by serial; UINT32_MAX: it is not part of it.
 */
void pp_replay_call_times_finish(struct pp_replay_call_times *times, struct pp_replay_model *model,
				 uint32_t (*number_of)(void *data, uint32_t serial), void *data,
				 struct pp_replay_gaps *gaps);

#endif
