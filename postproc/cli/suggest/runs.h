/* SPDX-License-Identifier: MIT */
/* The captures that `suggest` reads. */
#ifndef PP_CLI_SUGGEST_RUNS_H
#define PP_CLI_SUGGEST_RUNS_H

#include "cli/program_runs.h"
#include "cli/replay/source.h"
#include "cli/suggest/waits.h"
#include "suggest/apart.h"
#include "suggest/facts.h"

/* Code of a run's sections of a site: sets of uint64_t *, return addresses. */
struct pp_suggest_codes {
	GHashTable *staying; /* accesses memory in which sections conflict */
	GHashTable *seen;    /* accesses any memory */
	bool frees;	     /* sections free memory in which they conflict */
};

struct pp_suggest_run {
	const char *dir;
	struct pp_view view;
	GHashTable *codes;	/* site (struct pp_suggest_site) -> struct pp_suggest_codes * */
	GPtrArray *plain_files; /* of char *: compiled without hooks; NULL: not read, or stepped */
	bool has_accesses;	/* else it tells times alone */
	struct pp_cli_replay_arguments arguments;
	struct pp_cli_replay_source source;
	struct pp_suggest_waits waits; /* read with `wants_waits` */
};

struct pp_suggest_reading {
	uint32_t n_replays;
	bool allow_gaps;	/* captures may be incomplete */
	bool wants_waits;	/* ... and cycles of locks, and conflicts without a common lock */
	bool may_lack_accesses; /* else at least one capture must have accesses */
};

struct pp_suggest_runs {
	GPtrArray *all; /* of struct pp_suggest_run * */
	struct pp_suggest_facts facts;
	GHashTable *aparts;  /* pp_suggest_aparts_new(); filled with `wants_waits` */
	GHashTable *sources; /* name of a call site -> path of its source file */
	int status;	     /* exit status of the damage that was printed */
};

/* The recorded process; one is replayed. */
const struct pp_process *pp_suggest_run_process(const struct pp_suggest_run *run);

/*
 * Reads all captures, which are of one program and of different runs: also of others than those
 * that `program` has seen.  Returns 0 or -errno; the caller calls pp_suggest_runs_done() in both
 * cases.
 */
int pp_suggest_runs_read(struct pp_suggest_runs *runs, char *const *dirs, guint n_dirs,
			 const struct pp_suggest_reading *how, struct pp_cli_program_runs *program,
			 struct pp_error *err);

/* Also of zeroed ones, which were not read. */
void pp_suggest_runs_done(struct pp_suggest_runs *runs);

#endif
