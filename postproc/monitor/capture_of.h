/* SPDX-License-Identifier: MIT */
/* Finds the capture that a running process is recorded into. */
#ifndef PP_MONITOR_CAPTURE_OF_H
#define PP_MONITOR_CAPTURE_OF_H

#include <sys/types.h>

#include "core/error.h"

/*
 * Its directory, from the files that the process has mapped, or those that `record --pid` has open;
 * the caller frees it.  NULL after an error: there is no such process, it may not be seen, or it is
 * not recorded.
 */
char *pp_capture_of(pid_t pid, struct pp_error *err);

/* The same if `target` is a number and no file; else the name itself. */
char *pp_capture_named(const char *target, struct pp_error *err);

#endif
