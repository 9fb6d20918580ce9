/* SPDX-License-Identifier: MIT */
/* Each kind of change; arguments and results are those of pp_change_apply(). */
#ifndef PP_REPLAY_CHANGE_INTERNAL_H
#define PP_REPLAY_CHANGE_INTERNAL_H

#include "replay/change/change.h"

/* lock_kind.c */
int pp_change_drop(const struct pp_change *change, struct pp_replay_model *model, GPtrArray *notes,
		   struct pp_error *err);
int pp_change_spin(const struct pp_change *change, struct pp_replay_model *model, GPtrArray *notes,
		   struct pp_error *err);
int pp_change_rwlock(const struct pp_change *change, struct pp_replay_model *model,
		     GPtrArray *notes, struct pp_error *err);

int pp_change_split(const struct pp_change *change, struct pp_replay_model *model, GPtrArray *notes,
		    struct pp_error *err);
int pp_change_shrink(const struct pp_change *change, struct pp_replay_model *model,
		     GPtrArray *notes, struct pp_error *err);
int pp_change_faster(const struct pp_change *change, struct pp_replay_model *model,
		     GPtrArray *notes, struct pp_error *err);
int pp_change_threads(const struct pp_change *change, struct pp_replay_model *model,
		      GPtrArray *notes, struct pp_error *err);

/* notes.c: adds a line. */
void pp_change_note(GPtrArray *notes, const char *format, ...) G_GNUC_PRINTF(2, 3);

#endif
