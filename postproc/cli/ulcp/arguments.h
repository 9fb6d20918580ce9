/* SPDX-License-Identifier: MIT */
/* The command line of `predict ulcp`. */
#ifndef PP_CLI_ULCP_ARGUMENTS_H
#define PP_CLI_ULCP_ARGUMENTS_H

#include "cli/replay/arguments.h"

struct pp_cli_ulcp_arguments {
	/* Engine, replays, formats, the file for the result's model; path: the timing. */
	struct pp_cli_replay_arguments replay;
	const char *accesses; /* a second capture; NULL: the same */
	bool locksets;	      /* measure auxiliary locks, by skeletons */
};

#endif
