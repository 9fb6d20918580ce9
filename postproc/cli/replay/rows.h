/* SPDX-License-Identifier: MIT */
/* The table of replays: a row for each number of CPUs. */
#ifndef PP_CLI_REPLAY_ROWS_H
#define PP_CLI_REPLAY_ROWS_H

#include "cli/replay/arguments.h"
#include "cli/replay/runs.h"
#include "cli/replay/source.h"
#include "table/table.h"

/* changed: the model with the changes; NULL: none. Returns NULL after an error; the caller frees
 * the table. */
struct pp_table *pp_cli_replay_rows(const struct pp_cli_replay_arguments *arguments,
				    const struct pp_cli_replay_source *source,
				    const struct pp_replay_model *changed, struct pp_error *err);

/*
 * Finds the effect of the change in the row with that number of CPUs. Returns false if there is no
 * such row. *ret_stuck: it has no figures, since threads wait for ever.
 */
bool pp_cli_replay_rows_effect(const struct pp_table *rows, uint32_t n_cpus,
			       struct pp_cli_replay_effect *ret, bool *ret_stuck);

#endif
