/* SPDX-License-Identifier: MIT */
/*
 * Which processes run now that call themselves by a number: that of the PID namespace which they
 * are in, whichever it is.
 */
#ifndef PP_CORE_NUMBERS_H
#define PP_CORE_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pp_numbers;

/* As it is now. */
struct pp_numbers *pp_numbers_new(void);
void pp_numbers_free(struct pp_numbers *numbers);

/* CLOCK_MONOTONIC when it was made: a younger process may be missing. */
uint64_t pp_numbers_time_ns(const struct pp_numbers *numbers);

/*
 * Is one of them what is looked for, in that PID namespace (the inode number of /proc/PID/ns/pid;
 * 0: not known) or below it?  `is_it` gets its number here.  True also where that cannot be known:
 * the namespace may be out of sight.
 */
bool pp_numbers_may_have(const struct pp_numbers *numbers, uint32_t pid_namespace, pid_t own,
			 bool (*is_it)(pid_t pid, void *arg), void *arg);

#endif
