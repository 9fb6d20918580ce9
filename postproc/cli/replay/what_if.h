/* SPDX-License-Identifier: MIT */
/* `replay --what-if`: the changed model, and what it would bring. */
#ifndef PP_CLI_REPLAY_WHAT_IF_H
#define PP_CLI_REPLAY_WHAT_IF_H

#include "cli/replay/arguments.h"
#include "cli/replay/source.h"

/*
 * Replays the model with and without the changes, and adds the tables (struct pp_table *) to the
 * array. Returns 0 or -errno.
 */
int pp_cli_replay_what_if(const struct pp_cli_replay_arguments *arguments,
			  const struct pp_cli_replay_source *source, GPtrArray *tables,
			  struct pp_error *err);

#endif
