/* SPDX-License-Identifier: MIT */
/* The use of CPUs by all programs. */
#ifndef PP_REPLAY_SKELETON_LOAD_H
#define PP_REPLAY_SKELETON_LOAD_H

#include <sched.h>
#include <stdint.h>

/*
 * Returns the time in ns for which these CPUs have executed any program or the kernel, in units of
 * 10 ms by CPU; -1 if the kernel does not tell.
 */
int64_t pp_load_busy_ns(const cpu_set_t *cpus);

#endif
