/* SPDX-License-Identifier: MIT */
/* Changes of several locks at once. */
#ifndef PP_CLI_REPLAY_COMBINE_H
#define PP_CLI_REPLAY_COMBINE_H

#include "cli/replay/runs.h"
#include "table/table.h"

/*
 * Takes, from the table of pp_cli_replay_rank(), the best change of each lock, up to five, and
 * replays each two of them, and the best three, four and five together. before: the replay without
 * changes. Returns a table, which the caller frees, of those that bring more than each of theirs
 * alone; NULL after an error.
 */
struct pp_table *pp_cli_replay_combine(const struct pp_cli_replay_arguments *arguments,
				       const struct pp_replay_model *model,
				       const struct pp_cli_replay_outcome *before,
				       const struct pp_table *rank, struct pp_error *err);

#endif
