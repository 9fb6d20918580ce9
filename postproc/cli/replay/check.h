/* SPDX-License-Identifier: MIT */
/* `replay --check`: is the model complete, and what is missing? */
#ifndef PP_CLI_REPLAY_CHECK_H
#define PP_CLI_REPLAY_CHECK_H

#include "cli/replay/arguments.h"
#include "cli/replay/source.h"
#include "table/table.h"

/* Returns a table, which the caller frees. *ret_good: the run can be replayed. */
struct pp_table *pp_cli_replay_check(const struct pp_cli_replay_arguments *arguments,
				     const struct pp_cli_replay_source *source, bool *ret_good);

#endif
