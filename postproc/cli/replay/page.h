/* SPDX-License-Identifier: MIT */
/* `replay --format html`: the tables as a page, with a curve over the numbers of CPUs. */
#ifndef PP_CLI_REPLAY_PAGE_H
#define PP_CLI_REPLAY_PAGE_H

#include "cli/replay/arguments.h"
#include "core/error.h"

/*
 * Writes the page to arguments->page. With --rank and a capture, it also has the blame and the
 * bottlenecks of the recorded run. Returns 0 or -errno.
 */
int pp_cli_replay_page(const struct pp_cli_replay_arguments *arguments, const GPtrArray *tables,
		       struct pp_error *err);

#endif
