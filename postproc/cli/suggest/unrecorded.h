/* SPDX-License-Identifier: MIT */
/* Code without hooks that sections call: it seems to access nothing. */
#ifndef PP_CLI_SUGGEST_UNRECORDED_H
#define PP_CLI_SUGGEST_UNRECORDED_H

#include "cli/suggest/runs.h"
#include "flow/code.h"

/* Reads which source files were compiled without hooks.  To be called once for a run. */
void pp_suggest_unrecorded_read(struct pp_suggest_run *run);

/*
 * Adds the calls of such code to `calls` (of struct pp_suggest_call), each once for a line.  lines:
 * by node of the flow; 0: not of the section's function, or not known.
 */
void pp_suggest_unrecorded_add(const struct pp_suggest_run *run, const struct pp_flow_code *code,
			       const struct pp_flow *flow, const int *lines, GArray *calls);

#endif
