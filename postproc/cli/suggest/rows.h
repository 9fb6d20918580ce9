/* SPDX-License-Identifier: MIT */
/* The table of suggestions. */
#ifndef PP_CLI_SUGGEST_ROWS_H
#define PP_CLI_SUGGEST_ROWS_H

#include "cli/suggest/runs.h"
#include "suggest/patterns.h"
#include "table/table.h"

/* A gain below this is none: in percent of the run time. */
#define PP_SUGGEST_LEAST_PCT 1.0

/*
 * The table "suggestions", those with the largest gain first; suggestions without gain are counted
 * in a note.  The caller frees it.
 */
struct pp_table *pp_suggest_rows(const struct pp_suggest_runs *runs, const GPtrArray *suggestions);

#endif
