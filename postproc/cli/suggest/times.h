/* SPDX-License-Identifier: MIT */
/* The captures whose times are compared: recording accesses takes time, so that kinds do not mix.
 */
#ifndef PP_CLI_SUGGEST_TIMES_H
#define PP_CLI_SUGGEST_TIMES_H

#include "cli/replay/against.h"
#include "cli/suggest/runs.h"

/*
 * The captures of both sides whose times can be compared: those without accesses, if both sides
 * have some, else those with accesses.  *ret_with_accesses tells which.  Returns NULL, or the
 * reason why there are none.
 */
const char *pp_suggest_times_kind(const struct pp_suggest_runs *before,
				  const struct pp_suggest_runs *after, bool *ret_with_accesses);

/* Sets the recorded run times.  Returns NULL, or the reason why they are not known. */
const char *pp_suggest_times_recorded(const struct pp_suggest_runs *before,
				      const struct pp_suggest_runs *after,
				      struct pp_cli_replay_real *ret);

/* Threads of other programs that wanted a CPU in these captures, on average. */
double pp_suggest_times_others(const struct pp_suggest_runs *runs, bool with_accesses);

/* The first capture without accesses, or the first one. */
const struct pp_suggest_run *pp_suggest_times_first(const struct pp_suggest_runs *runs);

#endif
