/* SPDX-License-Identifier: MIT */
/* gprof-mt history --calls: the calls of a thread, indented. */
#ifndef PP_CLI_HISTORY_CALLS_H
#define PP_CLI_HISTORY_CALLS_H

#include "cli/options.h"
#include "cli/view.h"
#include "analysis/select.h"

/*
 * Prints the calls of the one selected thread, limited by time and function.  Returns the exit
 * status.
 */
int pp_cli_history_calls(const char *dir, struct pp_selection *selection,
			 enum pp_cli_format format);

/* True if the returns of threads with that tid are recorded. */
bool pp_cli_has_returns(const struct pp_view *view, uint32_t tid);

#endif
