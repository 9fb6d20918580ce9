/* SPDX-License-Identifier: MIT */
/* `replay --what-if ... --against`: the prediction beside the truth. */
#ifndef PP_CLI_REPLAY_AGAINST_H
#define PP_CLI_REPLAY_AGAINST_H

#include "cli/replay/arguments.h"
#include "cli/replay/source.h"
#include "table/table.h"

/*
 * Returns a table with the predicted change, the real one and the error of the prediction. The real
 * one is that of a capture or model of the changed program (arguments->against), or of runs of the
 * recorded command and of the changed program's (arguments->command), in turn. rows: of
 * pp_cli_replay_rows(), which may have the predicted change. NULL after an error.
 */
struct pp_table *pp_cli_replay_against(const struct pp_cli_replay_arguments *arguments,
				       const struct pp_cli_replay_source *source,
				       const struct pp_replay_model *changed,
				       const struct pp_table *rows, struct pp_error *err);

#endif
