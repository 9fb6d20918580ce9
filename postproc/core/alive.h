/* SPDX-License-Identifier: MIT */
/* Whether processes run, by /proc: a process number alone may be another's by now. */
#ifndef PP_CORE_ALIVE_H
#define PP_CORE_ALIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* When the process began, in ticks of CLOCK_BOOTTIME; 0: there is none. */
uint64_t pp_process_start(pid_t pid);

/* Does the process `pid` that began at `start` run, with any thread? */
bool pp_process_is_running(pid_t pid, uint64_t start);

/*
 * Does the process `pid` run, with any thread, that was there at `since_ns` (CLOCK_MONOTONIC; 0: at
 * any time)?  A younger one has only its number.
 */
bool pp_process_runs(pid_t pid, uint64_t since_ns);

#endif
