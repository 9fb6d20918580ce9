/* SPDX-License-Identifier: MIT */
/*
 * LTTng's session daemon: the one that is there, or one of our own.
 *
 * A daemon of ours serves all recordings of its user, and ends with the last of them, however that
 * ends: a keeper, its parent, waits until nobody uses it any more.  Who does is known by locks on
 * the bytes of one file beside LTTng's own (USE, shared), which the kernel takes back from whom
 * dies.
 */
#ifndef PP_RECORD_LTTNG_DAEMON_H
#define PP_RECORD_LTTNG_DAEMON_H

#include <signal.h>
#include <stdbool.h>

#include "core/error.h"

#define PP_LTTNG_SESSION "gprof-mt-" /* and our process id: how our sessions are called */

/*
 * Finds or starts a daemon, which then stays until pp_lttng_daemon_leave().  old_mask: the signals
 * that it is to have blocked; kernel: whether one of ours serves the kernel tracer, too.
 * *ret_lease: to be left.  0, or -errno.
 */
int pp_lttng_daemon_use(const sigset_t *old_mask, bool kernel, int *ret_lease,
			struct pp_error *err);

/* Returns when a daemon of ours that nobody else uses has ended.  No lease (0) is well, too. */
void pp_lttng_daemon_leave(int *lease);

#endif
