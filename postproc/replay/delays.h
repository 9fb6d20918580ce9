/* SPDX-License-Identifier: MIT */
/*
 * Finds for how long other programs kept threads from a CPU: the time in which they were ready
 * while fewer threads of the program ran than there are CPUs. Of CPUs that the program does not
 * use, each thread that is ready should have an equal part, but not more than one; so what they
 * have not is delay, and the rest of the time they waited for each other, which the replay does by
 * itself.
 */
#ifndef PP_REPLAY_DELAYS_H
#define PP_REPLAY_DELAYS_H

#include "replay/model.h"

struct pp_replay_delays;

struct pp_replay_delays *pp_replay_delays_new(void);
void pp_replay_delays_free(struct pp_replay_delays *delays);

/* A thread ran in this time. */
void pp_replay_delays_run(struct pp_replay_delays *delays, int64_t start_ns, int64_t end_ns);

/*
 * A thread was ready, in its step of that number; is_late: after a wait in it that had ended.
 * Wake-ups of usual length do not count.
 */
void pp_replay_delays_ready(struct pp_replay_delays *delays, int64_t start_ns, int64_t end_ns,
			    uint32_t serial, uint32_t step, bool is_late);

/*
 * Adds the delays to the model. number_of(): the number of a thread in it, by serial; UINT32_MAX:
 * it is not part of it.
 */
void pp_replay_delays_finish(struct pp_replay_delays *delays, struct pp_replay_model *model,
			     uint32_t (*number_of)(void *data, uint32_t serial), void *data);

#endif
