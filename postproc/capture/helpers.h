/* SPDX-License-Identifier: MIT */
/*
 * <pid>/helpers: the tasks that opened files for the runtime libraries.  In the kernel's events
 * they are threads of the process.  They do not belong to the program, so all their events are
 * dropped.
 */
#ifndef PP_CAPTURE_HELPERS_H
#define PP_CAPTURE_HELPERS_H

#include "capture/capture.h"

struct pp_helper {
	uint32_t tid;
	int64_t begin_ns, end_ns; /* the task was created in this interval */
};

/* Reads process->helpers.  Damaged records are counted and skipped. */
void pp_helpers_read(struct pp_capture *capture, struct pp_process *process);

/* Is the thread `tid` of `pid`, forked at time_ns, a helper? */
bool pp_helpers_have(const struct pp_model *model, int32_t pid, int32_t tid, int64_t time_ns);

#endif
