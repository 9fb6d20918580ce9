/* SPDX-License-Identifier: MIT */
/* Notes below the table of suggestions. */
#ifndef PP_CLI_SUGGEST_NOTES_H
#define PP_CLI_SUGGEST_NOTES_H

#include "cli/suggest/runs.h"
#include "table/table.h"

/* n_idle: suggestions that would bring too little (suggest/rank.h). */
void pp_suggest_add_notes(struct pp_table *table, const struct pp_suggest_runs *runs,
			  unsigned n_idle);

#endif
