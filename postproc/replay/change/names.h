/* SPDX-License-Identifier: MIT */
/* Finds the locks and call sites that a change names. */
#ifndef PP_REPLAY_CHANGE_NAMES_H
#define PP_REPLAY_CHANGE_NAMES_H

#include "core/error.h"
#include "replay/model.h"

/*
 * Both return an array, by number of the object or site, with true for those that match; the caller
 * frees it. NULL: none does, and the error names similar ones.
 */
bool *pp_change_find_locks(const struct pp_replay_model *model, const char *pattern,
			   struct pp_error *err);
bool *pp_change_find_sites(const struct pp_replay_model *model, const char *pattern,
			   struct pp_error *err);

/* The name of a call site of the model; "an unknown call site" for PP_REPLAY_NO_SITE. */
const char *pp_change_site_name(const struct pp_replay_model *model, uint32_t site);

#endif
