/* SPDX-License-Identifier: MIT */
/* Finds the lines of critical sections that need no lock. */
#ifndef PP_CLI_SUGGEST_EXTENTS_H
#define PP_CLI_SUGGEST_EXTENTS_H

#include "cli/suggest/runs.h"

/*
 * Sets the extent of each site of the facts: its lines from the machine code of the runs with
 * accesses, and the CPU time in these from the samples of the runs without accesses, or else of
 * those with.  Returns 0 or -errno.
 */
int pp_suggest_extents(struct pp_suggest_runs *runs, struct pp_error *err);

#endif
