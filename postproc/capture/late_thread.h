/* SPDX-License-Identifier: MIT */
/* Threads that no thread table lists: they are known only from events of the kernel or of LTTng. */
#ifndef PP_CAPTURE_LATE_THREAD_H
#define PP_CAPTURE_LATE_THREAD_H

#include "core/model.h"

/* Returns the last image of that pid; NULL: none. */
struct pp_process *pp_late_process(const struct pp_model *model, uint32_t pid);

/* Creates a thread first seen at time_ns, and its process if that is new as well. */
struct pp_thread *pp_late_thread_new(struct pp_model *model, uint32_t pid, uint32_t tid,
				     int64_t time_ns);

#endif
