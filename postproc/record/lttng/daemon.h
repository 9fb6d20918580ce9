/* SPDX-License-Identifier: MIT */
/*
 * LTTng's session daemon: the one that runs, or one that is started as `lttng create` does.
 *
 * A daemon that was started here keeps running, as a service of its user: later recordings and
 * lttng(1) use it.  It inherits nothing from the recording: no descriptor, signal mask, working
 * directory or preloaded library.
 */
#ifndef PP_RECORD_LTTNG_DAEMON_H
#define PP_RECORD_LTTNG_DAEMON_H

#include <stdbool.h>

#include "core/error.h"

/* A daemon answers that lttng-ctl would use: root's, or this user's. */
bool pp_lttng_daemon_runs(void);

/*
 * Returns when a daemon answers.  kernel: the kernel tracer is wanted, too; a daemon that runs
 * already may lack it.  *ret_started: this call has started it.  0, or -errno.
 */
int pp_lttng_daemon_use(bool kernel, bool *ret_started, struct pp_error *err);

#endif
