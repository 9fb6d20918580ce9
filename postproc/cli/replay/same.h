/* SPDX-License-Identifier: MIT */
/* The replay of the run as it was recorded, from which the fidelity is known. */
#ifndef PP_CLI_REPLAY_SAME_H
#define PP_CLI_REPLAY_SAME_H

#include "cli/replay/source.h"

/*
 * Replays the model with the cost of recording, beside as many threads of other programs as there
 * were, into source->same. Then takes that cost out of the model. Returns 0 or -errno.
 */
int pp_cli_replay_same(const struct pp_cli_replay_arguments *arguments,
		       struct pp_cli_replay_source *source, struct pp_error *err);

/* True if replays of the model on as many CPUs are the same as source->same. */
bool pp_cli_replay_is_same(const struct pp_cli_replay_arguments *arguments,
			   const struct pp_cli_replay_source *source);

/*
 * Replays the model on as many CPUs, without other programs: a change is compared with that. The
 * result has only figures. To be called after pp_cli_replay_same(). Returns 0 or -errno.
 */
int pp_cli_replay_before(const struct pp_cli_replay_arguments *arguments,
			 const struct pp_cli_replay_source *source,
			 struct pp_cli_replay_outcome *ret, struct pp_error *err);

#endif
