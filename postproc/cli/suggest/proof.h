/* SPDX-License-Identifier: MIT */
/* `suggest --against`: what a change of the program has brought. */
#ifndef PP_CLI_SUGGEST_PROOF_H
#define PP_CLI_SUGGEST_PROOF_H

#include "cli/suggest/runs.h"
#include "suggest/patterns.h"
#include "table/table.h"

struct pp_suggest_proof {
	const struct pp_suggest_runs *before;
	const GPtrArray *ranked;	     /* their suggestions, of pp_suggest_rank() */
	const struct pp_suggest_runs *after; /* of the changed program; NULL: none are recorded */
	char **command;			     /* that program; NULL: it is not executed */
};

/*
 * Adds the tables (struct pp_table *): "truth", the predicted and the real change of the run time;
 * and with recorded runs "contention", "new_conflicts" and "new_cycles".  Returns 0 or -errno.
 */
int pp_suggest_proof_tables(const struct pp_suggest_proof *proof, GPtrArray *tables,
			    struct pp_error *err);

#endif
