/* SPDX-License-Identifier: MIT */
/*
 * <pid>/helpers: the tasks that opened files for the runtime libraries.  The kernel's events have
 * them as threads of the process; they are none of the program's, and all their events are left
 * out.
 */
#ifndef PP_CAPTURE_HELPERS_H
#define PP_CAPTURE_HELPERS_H

#include "capture/capture.h"

struct pp_helper {
	uint32_t tid;
	int64_t begin_ns, end_ns; /* the task was made in between */
};

/* Reads process->helpers.  A record that cannot be is counted as damage and left out. */
void pp_helpers_read(struct pp_capture *capture, struct pp_process *process);

/* Is the thread `tid` of `pid`, forked at time_ns, such a task? */
bool pp_helpers_have(const struct pp_model *model, int32_t pid, int32_t tid, int64_t time_ns);

#endif
