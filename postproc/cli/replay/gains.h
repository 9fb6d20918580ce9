/* SPDX-License-Identifier: MIT */
/* Predicted gains as columns of tables of a report: beside blame, and beside critical sections. */
#ifndef PP_CLI_REPLAY_GAINS_H
#define PP_CLI_REPLAY_GAINS_H

#include "analysis/select.h"
#include "table/table.h"

/* True if the section of the report has a table with gains. */
bool pp_cli_replay_has_gains(const char *section);

/*
 * Replaces such tables by wider ones, which `owned` then owns.  Replays the capture, within the
 * selected time.  If it cannot be replayed, the columns are empty, and a note gives the reason.
 */
void pp_cli_replay_add_gains(const char *dir, const struct pp_selection *selection, bool for_text,
			     GPtrArray *tables, GPtrArray *owned);

#endif
