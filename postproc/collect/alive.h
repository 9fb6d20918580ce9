/* SPDX-License-Identifier: MIT */
/* Whether processes run, by /proc: a process number alone may be another's by now. */
#ifndef PP_COLLECT_ALIVE_H
#define PP_COLLECT_ALIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Does the process `pid` run, with any thread, that was there at `since_ns` (CLOCK_MONOTONIC; 0: at
 * any time)?  A younger one has only its number.
 */
bool pp_process_runs(pid_t pid, uint64_t since_ns);

#endif
