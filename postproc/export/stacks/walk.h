/* SPDX-License-Identifier: MIT */
/* Replays the call histories of all selected threads, each separately. */
#ifndef PP_EXPORT_STACKS_WALK_H
#define PP_EXPORT_STACKS_WALK_H

#include "export/exporter.h"
#include "pass/replay.h"

struct pp_walk;

/* only_returns: skip threads whose history has no returns. */
struct pp_walk *pp_walk_new(const struct pp_export *export, bool only_returns,
			    void (*take)(void *data, const struct pp_replay_line *line),
			    void *data);
void pp_walk_free(struct pp_walk *walk);
void pp_walk_event(struct pp_walk *walk, const struct pp_event *event);

/* Passes on what is still buffered. */
void pp_walk_finish(struct pp_walk *walk);

/* Adds notes on lost records and skipped threads. */
void pp_walk_note(const struct pp_walk *walk);

/* Returns the error for a replay without any stack, with the reason. */
int pp_walk_no_stack(const struct pp_walk *walk, struct pp_error *err);

#endif
