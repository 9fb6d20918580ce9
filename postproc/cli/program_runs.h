/* SPDX-License-Identifier: MIT */
/* Checks that captures are different runs of one program. */
#ifndef PP_CLI_PROGRAM_RUNS_H
#define PP_CLI_PROGRAM_RUNS_H

#include "cli/view.h"

/* Zeroed: no run has been seen yet. */
struct pp_cli_program_runs {
	char *dir, *path, *build_id; /* of the first one; NULL: not known */
	GHashTable *seen;	     /* what identifies a run -> the directory of its capture */
};

/*
 * Checks that the capture is of the same program and build as the first one, and not of the same
 * run as another one.  Returns 0, -EINVAL or -EEXIST.
 */
int pp_cli_program_runs_check(struct pp_cli_program_runs *runs, const struct pp_view *view,
			      struct pp_error *err);
/* The captures that follow are of another program, which may be a changed one. */
void pp_cli_program_runs_next(struct pp_cli_program_runs *runs);
void pp_cli_program_runs_done(struct pp_cli_program_runs *runs);

/* Why the run failed, or is not complete; NULL: it succeeded.  The caller frees it. */
char *pp_cli_run_failure(const struct pp_view *view);

#endif
