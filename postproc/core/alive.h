/* SPDX-License-Identifier: MIT */
/*
 * Checks through /proc whether a process still runs.  Its number alone does not suffice, since the
 * kernel reuses numbers.
 */
#ifndef PP_CORE_ALIVE_H
#define PP_CORE_ALIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The start time of the process, in ticks of CLOCK_BOOTTIME; 0 if it does not exist. */
uint64_t pp_process_start(pid_t pid);

/* True if the process `pid` that started at `start` still has a running thread. */
bool pp_process_is_running(pid_t pid, uint64_t start);

/*
 * True if a process `pid` has a running thread and already existed at `since_ns` (CLOCK_MONOTONIC;
 * 0: at any time).  A younger process only reuses the number.
 */
bool pp_process_runs(pid_t pid, uint64_t since_ns);

#endif
