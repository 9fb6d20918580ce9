/* SPDX-License-Identifier: MIT */
/* The cost of recording an operation, measured on this machine. */
#ifndef PP_CLI_OPERATION_COST_H
#define PP_CLI_OPERATION_COST_H

#include "core/error.h"

/*
 * Runs `gprof-mt calibrate` bare and recorded, which takes some 50 ms, and sets the difference of
 * an operation.  Further calls set the same.  Returns 0 or -errno.
 */
int pp_operation_cost_measure(double *ret_ns, struct pp_error *err);

/* The program of these runs: prints the time of an operation, in ns.  Returns the exit status. */
int pp_operation_cost_run(void);

#endif
