/* SPDX-License-Identifier: MIT */
/* Replays a program with changes that gprof-mt itself proposes. */
#ifndef PP_CLI_REPLAY_TRY_H
#define PP_CLI_REPLAY_TRY_H

#include "cli/replay/runs.h"

/*
 * Replays a copy of the model with these changes, in the form of --what-if, on its CPUs.
 * *ret_made: all of them can be made; else there is no outcome, which the caller ends by
 * pp_cli_replay_outcome_done(). Returns 0 or -errno.
 */
int pp_cli_replay_try(const struct pp_cli_replay_arguments *arguments,
		      const struct pp_replay_model *model, const char *const *texts, unsigned n,
		      struct pp_cli_replay_outcome *ret, bool *ret_made, struct pp_error *err);

#endif
