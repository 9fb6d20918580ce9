/* SPDX-License-Identifier: MIT */
/*
 * Finds the running processes that have a given number in their own PID namespace, whichever
 * namespace that is.
 */
#ifndef PP_CORE_PID_NAMESPACE_H
#define PP_CORE_PID_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pp_numbers;

/* Reads /proc once. */
struct pp_numbers *pp_numbers_new(void);
void pp_numbers_free(struct pp_numbers *numbers);

/* CLOCK_MONOTONIC at pp_numbers_new(): processes that started later may be missing. */
uint64_t pp_numbers_time_ns(const struct pp_numbers *numbers);

/*
 * True if a process with number `own` in that PID namespace (the inode number of /proc/PID/ns/pid;
 * 0: not known), or in one below it, satisfies is_it(), which gets the process's number in our
 * namespace.  True also if this cannot be determined, since the namespace may not be visible.
 */
bool pp_numbers_may_have(const struct pp_numbers *numbers, uint32_t pid_namespace, pid_t own,
			 bool (*is_it)(pid_t pid, void *arg), void *arg);

#endif
