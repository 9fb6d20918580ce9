/* SPDX-License-Identifier: MIT */
/* Notes below the tables of `replay`. */
#ifndef PP_CLI_REPLAY_NOTES_H
#define PP_CLI_REPLAY_NOTES_H

#include "cli/replay/runs.h"
#include "replay/build.h"
#include "table/table.h"

/* How far the replay of the recorded run is from its time; `same`: that replay. */
void pp_cli_replay_note_fidelity(struct pp_table *table, const struct pp_replay_model *model,
				 const struct pp_cli_replay_outcome *same);

/* How much of the run is not known.  n_stuck: threads that wait for ever in a replay. */
void pp_cli_replay_note_gaps(struct pp_table *table, const struct pp_replay_gaps *gaps,
			     uint32_t n_stuck);

#endif
