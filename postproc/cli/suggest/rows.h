/* SPDX-License-Identifier: MIT */
/* The table of suggestions. */
#ifndef PP_CLI_SUGGEST_ROWS_H
#define PP_CLI_SUGGEST_ROWS_H

#include "cli/suggest/runs.h"
#include "suggest/patterns.h"
#include "table/table.h"

/*
 * The table "suggestions".  ranked, n_idle: of pp_suggest_rank(); the latter are counted in a note,
 * and locks that are left out are named in notes.  The caller frees it.
 */
struct pp_table *pp_suggest_rows(const struct pp_suggest_runs *runs, const GPtrArray *ranked,
				 unsigned n_idle);

#endif
