/* SPDX-License-Identifier: MIT */
/*
 * A model prepared for threads: which real object each object is, and in which order they are
 * taken.
 *
 * Steps are copies of those of the model. Operations without an effect have become a SIGNAL: a lock
 * that the thread holds already, its release, the release of a lock that it does not hold, and a
 * second creation of a thread. The rank of a step is its turn.
 */
#ifndef PP_REPLAY_SKELETON_PLAN_H
#define PP_REPLAY_SKELETON_PLAN_H

#include "replay/model.h"

enum pp_skeleton_order {
	PP_SKELETON_FREE,  /* as the threads come */
	PP_SKELETON_LOCKS, /* each lock, semaphore and barrier in the recorded order */
	PP_SKELETON_ALL,   /* all operations in the recorded order */
};

/* A step that was performed. */
struct pp_skeleton_entry {
	uint32_t thread, step;
};

/* The step does not wait for a turn. */
#define PP_PLAN_NO_TURN UINT32_MAX

enum pp_plan_lock { PP_PLAN_MUTEX, PP_PLAN_RWLOCK, PP_PLAN_SPIN };

struct pp_plan {
	const struct pp_replay_model *model;
	enum pp_skeleton_order order;
	struct pp_replay_step **steps; /* by thread */
	uint8_t *locks;		       /* enum pp_plan_lock by object */
	uint32_t *n_locks;	       /* by thread: that it holds at a time, at most */
};

/* Makes a plan without turns. */
void pp_plan_init(struct pp_plan *plan, const struct pp_replay_model *model);
void pp_plan_done(struct pp_plan *plan);

/*
 * Gives turns to the steps. In PP_SKELETON_LOCKS order, the turn of a step is the number of
 * acquisitions of its object that come first; readers have that of the first one of their group,
 * and so have the threads of a round of a barrier. In PP_SKELETON_ALL order, it is the number of
 * all operations but sleeps that come first.
 *
 * The turns are those of a run that is possible by the rules of the objects, and that differs from
 * the recorded order only where that is not. So all waits for turns end.
 *
 * Returns NULL, or what no run can pass; the caller frees it.
 */
char *pp_plan_order(struct pp_plan *plan, enum pp_skeleton_order order);

/* A thread that waits for ever, at which step. */
struct pp_plan_stuck {
	uint32_t thread, step;
};

/* A text for threads that no thread creates; the caller frees it. */
char *pp_plan_not_created_text(guint n);

/* A text for all threads that wait for ever, of which some are named; the caller frees it. */
char *pp_plan_stuck_text(const struct pp_replay_model *model, const struct pp_plan_stuck *stuck,
			 size_t n);

#endif
