/* SPDX-License-Identifier: MIT */
/*
 * The critical sections of a model. A section is from an acquisition to the release; recursive
 * acquisitions belong to the outermost one. A condition wait with the lock as its mutex does not
 * end the section: its release and its acquisition have the same call site, which is that of no
 * other operation.
 */
#ifndef PP_REPLAY_SECTIONS_H
#define PP_REPLAY_SECTIONS_H

#include "replay/model.h"

struct pp_replay_section {
	struct pp_replay_thread *thread;
	uint32_t number; /* of the thread */
	uint32_t object, site;
	uint32_t first, last; /* steps: the acquisition; the release, or the thread's last step */
	bool shared;	      /* it begins with a RDLOCK */
	bool waits;	      /* for a condition */
	bool signals;	      /* it has a step that others await */
};

/* Calls take() for each section, at its end: a nested one comes first. */
void pp_replay_each_section(struct pp_replay_model *model,
			    void (*take)(void *data, const struct pp_replay_section *section),
			    void *data);

/*
 * Returns, by number, the first call site with the same name: the compiler makes several calls of
 * one in a loop or an inlined function. The caller frees it.
 */
uint32_t *pp_replay_join_sites(const struct pp_replay_model *model);

/*
 * The call sites that enter a section which waits for a condition or signals, by lock: all threads
 * use one mutex with a condition. joined: pp_replay_join_sites(). The caller unrefs the table.
 */
GHashTable *pp_replay_condition_sites(struct pp_replay_model *model, const uint32_t *joined);
bool pp_replay_has_condition(GHashTable *sites, const uint32_t *joined,
			     const struct pp_replay_section *section);

/*
 * Calls take() for each step of the section that operates on its lock, and for each step whose CPU
 * time the thread had with the lock; is_inside: it is one of the latter.
 */
void pp_replay_each_step(const struct pp_replay_section *section,
			 void (*take)(void *data, struct pp_replay_step *step, bool is_inside),
			 void *data);

#define PP_REPLAY_NO_STEP UINT32_MAX

/*
 * Returns, by step, the step that took the lock in whose section the step's CPU time is: of several
 * the one taken last; PP_REPLAY_NO_STEP: none. The caller frees it.
 */
uint32_t *pp_replay_find_enclosing(const struct pp_replay_thread *thread);

static inline bool pp_replay_is_on(const struct pp_replay_step *step, uint32_t object)
{
	return step->kind <= PP_REPLAY_UNLOCK && step->object == object;
}

#endif
