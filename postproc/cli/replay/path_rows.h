/* SPDX-License-Identifier: MIT */
/* The table of the critical paths of a simulated run, before and after a change. */
#ifndef PP_CLI_REPLAY_PATH_ROWS_H
#define PP_CLI_REPLAY_PATH_ROWS_H

#include "cli/replay/arguments.h"
#include "replay/model.h"
#include "table/table.h"

/* The caller frees the table. */
struct pp_table *pp_cli_replay_path_rows(const struct pp_cli_replay_arguments *arguments,
					 const struct pp_replay_model *before,
					 const struct pp_replay_model *after);

#endif
