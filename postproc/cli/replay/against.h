/* SPDX-License-Identifier: MIT */
/* `replay --what-if ... --against`: the prediction beside the truth. */
#ifndef PP_CLI_REPLAY_AGAINST_H
#define PP_CLI_REPLAY_AGAINST_H

#include "cli/replay/arguments.h"
#include "cli/replay/runs.h"
#include "cli/replay/source.h"
#include "table/table.h"

/* The real run times; of both outcomes, `ns` is all that is set. */
struct pp_cli_replay_real {
	struct pp_cli_replay_outcome before, after;
	uint32_t n_measured; /* runs of each that were not recorded; 0: the times are recorded */
};

/*
 * Runs the command of the source and arguments->command in turn, arguments->n_runs times each.
 * Returns 0 or -errno.
 */
int pp_cli_replay_run_both(const struct pp_cli_replay_arguments *arguments,
			   const struct pp_cli_replay_source *source,
			   struct pp_cli_replay_real *ret, struct pp_error *err);

/* The table "truth", with a note on the times.  predicted, real: NULL: not known. */
struct pp_table *pp_cli_replay_truth(const struct pp_cli_replay_effect *predicted,
				     const struct pp_cli_replay_real *real);

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
