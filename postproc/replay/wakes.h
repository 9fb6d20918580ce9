/* SPDX-License-Identifier: MIT */
/*
 * How long threads took from a wake-up until they ran: as quantiles, since whether a thread that is
 * woken gets a lock before another one takes it again depends on how much these times differ.
 */
#ifndef PP_REPLAY_WAKES_H
#define PP_REPLAY_WAKES_H

#include "replay/model.h"

/* On which CPU the thread ran: one that was idle, that ran another program, or a thread of its own.
 */
enum pp_replay_wake_to { PP_REPLAY_WAKE_IDLE, PP_REPLAY_WAKE_TAKEN, PP_REPLAY_WAKE_OWN };

struct pp_replay_wakes;

struct pp_replay_wakes *pp_replay_wakes_new(void);
void pp_replay_wakes_free(struct pp_replay_wakes *wakes);

/* False if the time is so long that the thread has waited for a CPU. */
bool pp_replay_is_wake(enum pp_replay_wake_to to, int64_t ns);

/* Adds a time for which that is true. */
void pp_replay_wakes_add(struct pp_replay_wakes *wakes, enum pp_replay_wake_to to, int64_t ns);

/* Sets the times of the model. */
void pp_replay_wakes_finish(struct pp_replay_wakes *wakes, struct pp_replay_model *model);

#endif
