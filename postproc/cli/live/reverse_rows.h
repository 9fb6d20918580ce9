/* SPDX-License-Identifier: MIT */
/* The table of reversed pairs of sections, a row for each pair of sites. */
#ifndef PP_CLI_LIVE_REVERSE_ROWS_H
#define PP_CLI_LIVE_REVERSE_ROWS_H

#include "replay/reverse/finder.h"
#include "core/reversals.h"
#include "replay/reverse/verdict.h"
#include "table/table.h"

/* The outcomes of the samples of a pair of sites. */
struct pp_cli_reversed {
	uint64_t n[PP_REVERSAL_N_VERDICTS];
	char *stuck; /* the place at which the first stuck replay left the schedule; NULL */
};

struct pp_table *pp_cli_reversed_table(void);
void pp_cli_reversed_add(struct pp_table *table, const struct pp_reversal_sites *sites,
			 const struct pp_cli_reversed *reversed);

/* Adds the result to those that are stored, if replays have decided it. */
void pp_cli_reversed_keep(struct pp_reversals *reversals, const struct pp_reversal_sites *sites,
			  const struct pp_cli_reversed *reversed, unsigned n_runs);

#endif
