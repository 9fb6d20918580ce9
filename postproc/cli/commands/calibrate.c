/* SPDX-License-Identifier: MIT */
/* gprof-mt calibrate: the program that `predict` measures.  Internal. */
#include "cli/commands.h"
#include "cli/operation_cost.h"

int pp_cmd_calibrate(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return pp_operation_cost_run();
}
