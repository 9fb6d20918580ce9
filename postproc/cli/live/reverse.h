/* SPDX-License-Identifier: MIT */
/*
 * `replay --engine=live --reverse`: executes samples of conflicting critical sections in both
 * orders, and compares what they leave in memory.
 */
#ifndef PP_CLI_LIVE_REVERSE_H
#define PP_CLI_LIVE_REVERSE_H

#include "cli/tables.h"

struct pp_cli_reverse {
	struct pp_cli_tables how;
	const char *dir;      /* the capture; NULL: the program is recorded first */
	const char *keep;     /* a directory for captures and output; NULL: they are removed */
	const char *accesses; /* how they are recorded; NULL: as configured */
	char *const *command;
	unsigned n_samples; /* of each pair of sites */
	unsigned n_runs;    /* of each sample, in each order */
};

/* Returns the exit status. */
int pp_cli_reverse(const struct pp_cli_reverse *arguments);

#endif
