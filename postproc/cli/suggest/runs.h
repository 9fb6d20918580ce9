/* SPDX-License-Identifier: MIT */
/* The captures that `suggest` reads. */
#ifndef PP_CLI_SUGGEST_RUNS_H
#define PP_CLI_SUGGEST_RUNS_H

#include "cli/replay/source.h"
#include "suggest/facts.h"

struct pp_suggest_run {
	const char *dir;
	bool has_accesses; /* else it tells times alone */
	struct pp_cli_replay_arguments arguments;
	struct pp_cli_replay_source source;
};

struct pp_suggest_runs {
	GPtrArray *all; /* of struct pp_suggest_run * */
	struct pp_suggest_facts facts;
	GHashTable *sources; /* name of a call site -> path of its source file */
	int status;	     /* exit status of the damage that was printed */
};

/*
 * Reads all captures: at least one must have accesses.  Returns 0 or -errno; the caller calls
 * pp_suggest_runs_done() in both cases.
 */
int pp_suggest_runs_read(struct pp_suggest_runs *runs, char *const *dirs, guint n_dirs,
			 uint32_t n_replays, struct pp_error *err);
void pp_suggest_runs_done(struct pp_suggest_runs *runs);

#endif
