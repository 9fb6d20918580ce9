/* SPDX-License-Identifier: MIT */
/* `replay --rank`: the changes that would bring most. */
#ifndef PP_CLI_REPLAY_RANK_H
#define PP_CLI_REPLAY_RANK_H

#include "cli/replay/arguments.h"
#include "cli/replay/source.h"
#include "table/table.h"

/*
 * Tries changes of each lock that threads wait for in the replay: never to take it, a lock for each
 * call site, half of the time in the sections of each call site. The greatest gain is first.
 * Adds the table, and one of combinations (combine.h), to the tables. Returns 0 or -errno.
 */
int pp_cli_replay_rank(const struct pp_cli_replay_arguments *arguments,
		       const struct pp_cli_replay_source *source, GPtrArray *tables,
		       struct pp_error *err);

#endif
