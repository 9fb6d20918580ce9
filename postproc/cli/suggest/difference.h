/* SPDX-License-Identifier: MIT */
/* The recorded runs of a program before and after a change, as tables. */
#ifndef PP_CLI_SUGGEST_DIFFERENCE_H
#define PP_CLI_SUGGEST_DIFFERENCE_H

#include "cli/suggest/runs.h"
#include "suggest/patterns.h"
#include "table/table.h"

struct pp_suggest_difference {
	const struct pp_suggest_runs *before, *after;  /* read with `wants_waits` */
	const GPtrArray *ranked_before, *ranked_after; /* of pp_suggest_rank() */
};

/*
 * Adds the tables "contention", "new_conflicts" and "new_cycles".  found_after: all suggestions for
 * the changed program.
 */
void pp_suggest_difference_tables(const struct pp_suggest_difference *difference,
				  const GPtrArray *found_after, GPtrArray *tables);

#endif
