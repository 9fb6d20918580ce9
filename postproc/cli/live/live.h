/* SPDX-License-Identifier: MIT */
/* `replay --engine=live`: runs the program again, with the recorded order of each lock. */
#ifndef PP_CLI_LIVE_LIVE_H
#define PP_CLI_LIVE_LIVE_H

#include <stdbool.h>

/* True if the arguments of `replay` select this engine. */
bool pp_cli_live_is_meant(int argc, char **argv);

/* Returns the exit status. */
int pp_cli_live(int argc, char **argv);

#endif
