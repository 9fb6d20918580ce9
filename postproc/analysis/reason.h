/* SPDX-License-Identifier: MIT */
/* The reasons why a thread leaves its CPU. */
#ifndef PP_ANALYSIS_REASON_H
#define PP_ANALYSIS_REASON_H

#include <glib.h>

#include "core/operation.h"

enum pp_reason {
	PP_REASON_NONE,
	PP_REASON_PREEMPTED,
	PP_REASON_QUANTUM,
	PP_REASON_YIELD,
	PP_REASON_MUTEX,
	PP_REASON_CONDITION,
	PP_REASON_SEMAPHORE,
	PP_REASON_BARRIER,
	PP_REASON_RWLOCK,
	PP_REASON_SPIN,
	PP_REASON_ONCE,
	PP_REASON_JOIN,
	PP_REASON_FUTEX,
	PP_REASON_READ,
	PP_REASON_WRITE,
	PP_REASON_POLL,
	PP_REASON_SLEEP,
	PP_REASON_CHILD,
	PP_REASON_SIGNAL,
	PP_REASON_FILE_LOCK,
	PP_REASON_PAGE_FAULT,
	PP_REASON_DISK,
	PP_REASON_SYSCALL,
	PP_REASON_STOPPED,
	PP_REASON_EXIT,
	PP_REASON_UNKNOWN,
	PP_N_REASONS
};

/* The name in JSON: "mutex". */
const char *pp_reason_name(enum pp_reason reason);

/*
 * The reason for a thread blocked on an object.  Appends "blocked on mutex lock" to text; `name` is
 * the object's display name.
 */
enum pp_reason pp_reason_of_object(GString *text, enum gm_sync_type type, const char *name);

/* The reason for a thread blocked in a system call, or in a function of the C library. */
enum pp_reason pp_reason_of_syscall(const char *name);

/* True if the system call waits for data to arrive or to be written. */
bool pp_reason_is_io(enum pp_reason reason);

#endif
