/* SPDX-License-Identifier: MIT */
/* The histories of calls of all threads that are chosen, each replayed by itself. */
#ifndef PP_EXPORT_STACKS_WALK_H
#define PP_EXPORT_STACKS_WALK_H

#include "export/exporter.h"
#include "pass/replay.h"

struct pp_walk;

/* only_returns: of no thread whose history tells of no return. */
struct pp_walk *pp_walk_new(const struct pp_export *export, bool only_returns,
			    void (*take)(void *data, const struct pp_replay_line *line),
			    void *data);
void pp_walk_free(struct pp_walk *walk);
void pp_walk_event(struct pp_walk *walk, const struct pp_event *event);

/* What is held back comes. */
void pp_walk_finish(struct pp_walk *walk);

/* Notes what the histories lost, and threads that were left out. */
void pp_walk_note(const struct pp_walk *walk);

/* Nothing came: the error that says why. */
int pp_walk_no_stack(const struct pp_walk *walk, struct pp_error *err);

#endif
