/* SPDX-License-Identifier: MIT */
/* Finds out whether all threads of a run wait for each other. */
#ifndef PP_REPLAY_SKELETON_WATCH_H
#define PP_REPLAY_SKELETON_WATCH_H

#include "replay/skeleton/process.h"

struct pp_watch {
	const struct pp_replay_model *model;
	const struct pp_shared *shared;
	pid_t pid;
	uint64_t n_changes; /* of the states of all threads, at the last look; 0: none waited */
};

/*
 * Returns the threads, as struct pp_plan_stuck, if none has moved since the call before and all
 * wait; otherwise NULL.
 */
GArray *pp_watch_look(struct pp_watch *watch);

/* Returns the threads that wait now. */
GArray *pp_watch_waiting(const struct pp_watch *watch);

#endif
