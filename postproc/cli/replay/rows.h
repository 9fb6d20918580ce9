/* SPDX-License-Identifier: MIT */
/* The table of replays: a row for each number of CPUs. */
#ifndef PP_CLI_REPLAY_ROWS_H
#define PP_CLI_REPLAY_ROWS_H

#include "cli/replay/arguments.h"
#include "cli/replay/source.h"

/* Replays the model, and prints the table.  Returns the exit status. */
int pp_cli_replay_print_rows(const struct pp_cli_replay_arguments *arguments,
			     const struct pp_cli_replay_source *source);

#endif
