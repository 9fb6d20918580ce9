/* SPDX-License-Identifier: MIT */
/* `predict ulcp`: the run time without unnecessary lock contention. */
#ifndef PP_CLI_ULCP_ULCP_H
#define PP_CLI_ULCP_ULCP_H

#include "cli/ulcp/arguments.h"

/* Returns the exit status. */
int pp_cli_ulcp(const struct pp_cli_ulcp_arguments *arguments);

#endif
