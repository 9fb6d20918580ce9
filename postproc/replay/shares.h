/* SPDX-License-Identifier: MIT */
/*
 * Finds from samples the part of the CPU time that is in a function and those that it calls: for
 * each call site that enters sections, and outside of sections.
 */
#ifndef PP_REPLAY_SHARES_H
#define PP_REPLAY_SHARES_H

#include "core/event.h"
#include "core/namer.h"
#include "replay/model.h"

/* True if the name of a function, which may be NULL, is the pattern or matches it. */
bool pp_replay_is_function(const char *name, const char *pattern);

struct pp_replay_shares;

/* functions: of const char *, patterns of names; borrowed. */
struct pp_replay_shares *pp_replay_shares_new(const struct pp_namer *namer,
					      const GPtrArray *functions);
void pp_replay_shares_free(struct pp_replay_shares *shares);

/* The thread was sampled in its step of that number. Samples without a path are left out. */
void pp_replay_shares_sample(struct pp_replay_shares *shares, const struct pp_event *event,
			     uint32_t step);

/* Adds what was sampled to the model. number_of(): the number of a thread in it, by serial. */
void pp_replay_shares_finish(struct pp_replay_shares *shares, struct pp_replay_model *model,
			     uint32_t (*number_of)(void *data, uint32_t serial), void *data);

#endif
