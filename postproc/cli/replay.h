/* SPDX-License-Identifier: MIT */
/* gprof-mt history --calls: the calls of a thread, indented. */
#ifndef PP_CLI_REPLAY_H
#define PP_CLI_REPLAY_H

#include "cli/view.h"

/* Prints them; the exit status. */
int pp_cli_replay(const char *dir, uint32_t tid, bool json);

#endif
