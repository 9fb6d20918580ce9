/* SPDX-License-Identifier: MIT */
/* gprof-mt history --calls: the calls of a thread, indented. */
#ifndef PP_CLI_REPLAY_H
#define PP_CLI_REPLAY_H

#include "cli/options.h"
#include "cli/view.h"
#include "analysis/select.h"

/* Prints those of the one thread selected, by time and function; the exit status. */
int pp_cli_replay(const char *dir, struct pp_selection *selection, enum pp_cli_format format);

/* Whether the history tells of returns by threads with that tid. */
bool pp_cli_has_returns(const struct pp_view *view, uint32_t tid);

#endif
