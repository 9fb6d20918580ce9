/* SPDX-License-Identifier: MIT */
/* Notes below the tables of `replay`. */
#ifndef PP_CLI_REPLAY_NOTES_H
#define PP_CLI_REPLAY_NOTES_H

#include "cli/replay/source.h"
#include "table/table.h"

/*
 * How far the replay of the recorded run is from its time.  same: that replay; how: "simulated", or
 * another participle.  Nothing if that time is not known, or threads wait for ever.
 */
void pp_cli_replay_note_fidelity(struct pp_table *table, const struct pp_replay_model *model,
				 const struct pp_cli_replay_outcome *same, const char *how);

/* The same of the source, what it leaves out of the capture, and the cost of recording. */
void pp_cli_replay_note_source(struct pp_table *table, const struct pp_cli_replay_source *source,
			       const char *how);

/* How much of the run is not known. */
void pp_cli_replay_note_gaps(struct pp_table *table, const struct pp_replay_gaps *gaps);

/* So many threads wait for ever in a replay.  stuck: for what some of them wait; NULL: not known.
 */
void pp_cli_replay_note_stuck(struct pp_table *table, uint32_t n_stuck, const char *stuck);

#endif
