/* SPDX-License-Identifier: MIT */
/*
 * Records the kernel's events of a process that already runs.  Nothing is changed in the process,
 * so it does not notice the begin, the end, or a crash of the recording.
 */
#ifndef PP_RECORD_ATTACH_ATTACH_H
#define PP_RECORD_ATTACH_ATTACH_H

#include "record/attach/folder.h"
#include "record/attach/sampling.h"
#include "record/attach/target.h"
#include "record/attach/threads.h"
#include "record/info.h"

/*
 * Blocks SIGINT, SIGTERM and SIGHUP, which end the recording from then on, and SIGUSR2.  Returns 0
 * or -errno.
 */
int pp_attach_signals(struct pp_error *err);

/*
 * Lets run->collector and `samples`, which are open, record all threads of the process; sets the
 * start of the run.
 * Returns the threads that were found, whose number is 0 if the process has ended.
 */
void pp_attach_begin(struct pp_run *run, const struct pp_target *target,
		     struct pp_target_threads *threads, struct pp_target_samples *samples);

/*
 * Collects events until the process or duration_ns (0: no limit) has ended, or until a signal.
 * Calls asked(data) on SIGUSR2.  Returns the reason.
 */
enum pp_attach_end pp_attach_wait(const struct pp_target *target, struct pp_collector *collector,
				  struct pp_target_samples *samples, int64_t start_ns,
				  int64_t duration_ns, void (*asked)(void *data), void *data);

#endif
