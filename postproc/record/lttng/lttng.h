/* SPDX-License-Identifier: MIT */
/*
 * An LTTng recording session for one run: `record --backend lttng`, `kernel.source = lttng`.
 *
 * It uses the session daemon that lttng-ctl finds (this user's, or root's for members of the group
 * tracing), or starts one (daemon.h).  The session writes to ust/ and kernel/ in the capture
 * directory, or to a relay daemon (relay.h).
 */
#ifndef PP_RECORD_LTTNG_LTTNG_H
#define PP_RECORD_LTTNG_LTTNG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "record/lttng/relay.h"
#include "runtime/config/config.h"

struct lttng_handle;

struct pp_lttng {
	char *session;			    /* its name; NULL: no session */
	struct pp_relay *relay;		    /* that stores the events; NULL: the capture does */
	bool started_daemon;		    /* for this run; it keeps running */
	struct lttng_handle *user, *kernel; /* one for each domain; NULL: not recorded */
	char *kernel_missing;		    /* events that this kernel lacks; NULL: none */
};

/* The kinds of events that the session records, and where they go. */
struct pp_lttng_wanted {
	bool user;	 /* synch-events, by LTTng-UST */
	bool kernel;	 /* the kernel's events, by lttng-modules */
	const char *url; /* of a relay daemon, valid; NULL: the capture directory */
};

/*
 * Destroys sessions that killed recordings of this user have left, then creates the session of this
 * run and starts it.  0, or -errno without a session; started_daemon is set in both cases.
 */
int pp_lttng_begin(struct pp_lttng *lttng, struct pp_lttng_wanted wanted,
		   const struct gm_config *config, const char *capture_dir, struct pp_error *err);

struct pp_lttng_lost {
	uint64_t user, kernel; /* events that LTTng discarded because its buffers were full */
	bool relay_ended;      /* and with it an unknown number of events */
};

/*
 * Stops and destroys the session.  -EIO: LTTng reports an error, see err; what it has written
 * stays.
 */
int pp_lttng_end(struct pp_lttng *lttng, struct pp_lttng_lost *ret_lost, struct pp_error *err);

#endif
