/* SPDX-License-Identifier: MIT */
/* Threads of one kind: those that were created at the same call site. */
#ifndef PP_REPLAY_CHANGE_KIND_H
#define PP_REPLAY_CHANGE_KIND_H

#include "core/error.h"
#include "replay/model.h"

struct pp_change_kind_of {
	GArray *threads;  /* of uint32_t: their numbers, rising */
	uint32_t creator; /* of the last one; it is of another kind */
	uint32_t site;
};

/* A step of a new thread, which has that number among the new ones. */
struct pp_change_place {
	uint32_t thread, step;
};

/*
 * Finds the kind with the most threads, or with the most whose name matches the pattern. Returns 0
 * or -errno; after 0, the caller calls pp_change_kind_done().
 */
int pp_change_find_kind(const struct pp_replay_model *model, const char *pattern,
			struct pp_change_kind_of *ret, struct pp_error *err);
void pp_change_kind_done(struct pp_change_kind_of *kind);

/* "main (a.c:12)": the call site. */
const char *pp_change_kind_name(const struct pp_replay_model *model,
				const struct pp_change_kind_of *kind);

/* The index-th thread of the kind; the index of a thread, -1: it is of another kind. */
struct pp_replay_thread *pp_change_thread(const struct pp_replay_model *model,
					  const struct pp_change_kind_of *kind, uint32_t index);
int pp_change_kind_index(const struct pp_change_kind_of *kind, uint32_t thread);

/*
 * Replaces the kind's threads by n_new ones with these steps (arrays of struct pp_replay_step, of
 * which references are taken). Waits for an old step are for its place, by index of the old thread
 * and step. More threads are created behind the last old one, and joined behind the last join;
 * threads that are too many only begin and end.
 */
void pp_change_replace_kind(struct pp_replay_model *model, const struct pp_change_kind_of *kind,
			    GArray *const *steps, uint32_t n_new,
			    struct pp_change_place *const *places);

#endif
