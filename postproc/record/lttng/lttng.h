/* SPDX-License-Identifier: MIT */
/*
 * A recording session of LTTng's for one run: `record --backend lttng`, `kernel.source = lttng`.
 *
 * The session daemon is the one this user has (or root's, where LTTng says so), or else one of our
 * own (daemon.h).  The session writes into the capture directory, below
 * ust/ and kernel/.
 */
#ifndef PP_RECORD_LTTNG_LTTNG_H
#define PP_RECORD_LTTNG_LTTNG_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "runtime/config.h"

struct lttng_handle;

struct pp_lttng {
	char *session;			    /* its name; NULL: there is none */
	int lease;			    /* of its daemon; 0: none */
	struct lttng_handle *user, *kernel; /* of each domain; NULL: without */
	char *kernel_missing;		    /* events that this kernel has not; NULL: none */
};

/* What is to be recorded through it. */
struct pp_lttng_wanted {
	bool user;   /* synch-events, by LTTng-UST */
	bool kernel; /* the kernel's events, by lttng-modules */
};

/*
 * Makes the session and starts it.  The signals that would end this process are blocked or handled
 * by now; old_mask is what the daemon gets.  0, or -errno with all undone.
 */
int pp_lttng_begin(struct pp_lttng *lttng, struct pp_lttng_wanted wanted,
		   const struct gm_config *config, const char *capture_dir,
		   const sigset_t *old_mask, struct pp_error *err);

/* Events for which there was no room. */
struct pp_lttng_lost {
	uint64_t user, kernel;
};

/*
 * Stops the session, and ends what pp_lttng_begin() made.  -EIO: LTTng says that something went
 * wrong, see err; what it has written stays.
 */
int pp_lttng_end(struct pp_lttng *lttng, struct pp_lttng_lost *ret_lost, struct pp_error *err);

#endif
