/* SPDX-License-Identifier: MIT */
/*
 * The process that `record --pid` is to record: does it exist, may this user record it, and do its
 * thread numbers and paths mean the same here?
 */
#ifndef PP_RECORD_ATTACH_TARGET_H
#define PP_RECORD_ATTACH_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <glib.h>

#include "core/error.h"

struct pp_target {
	pid_t pid, ppid;
	int pid_fd;	/* readable when the process has ended; -1: none */
	GStrv command;	/* its arguments; its name, if it has none */
	char *cwd;	/* NULL: not known */
	int64_t age_ns; /* time since its start */
};

/*
 * Returns 0 or -errno: -ESRCH there is no such process; -EPERM it may not be recorded.  The error
 * names the reason.  On failure, there is nothing to free.
 */
int pp_target_open(pid_t pid, struct pp_target *target, struct pp_error *err);
void pp_target_done(struct pp_target *target);

bool pp_target_has_ended(const struct pp_target *target);

#endif
