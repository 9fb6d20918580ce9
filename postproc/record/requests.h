/* SPDX-License-Identifier: MIT */
/*
 * Receives requests from processes that cannot reach the capture (runtime/capture/recorder.h): for
 * files of their own (serve_files.h), and reports that they are not recorded.
 *
 * Any process may connect.  A process that knows the capture's secret belongs to this run.  A
 * process without it, for example after an exec, may only report that it is not recorded, and ask
 * for the secret.  Both require that the kernel confirms that the process descends from `record` or
 * is in the capture, and that it still runs.
 */
#ifndef PP_RECORD_REQUESTS_H
#define PP_RECORD_REQUESTS_H

#include <stdint.h>

#include <glib.h>

#include "record/serve_files.h"
#include "runtime/capture/capture.h"

struct pp_unrecorded {
	int32_t pid;  /* 0: in a PID namespace that is not visible from here */
	int32_t code; /* errno */
};

struct pp_mailbox {
	int fd; /* to poll for POLLIN; -1: none */
	int listener;
	GHashTable *waiting; /* connections without a request so far: descriptor -> time of
			      * connection, us */
	const struct gm_capture *capture;
	struct pp_grants grants;
	GArray *unrecorded; /* of struct pp_unrecorded, one per process */
	uint64_t n_refused;
};

/*
 * Opens the mailbox of the capture whose directory is `dir_fd`.  Never fails: without a socket, no
 * requests are served.
 */
void pp_mailbox_open(struct pp_mailbox *mailbox, const struct gm_capture *capture, int dir_fd,
		     uint64_t max_bytes);
void pp_mailbox_done(struct pp_mailbox *mailbox);

/* Answers pending requests. */
void pp_mailbox_read(struct pp_mailbox *mailbox);

/* Call after the program has ended: answers pending requests, then closes the mailbox. */
void pp_mailbox_stop(struct pp_mailbox *mailbox);

#endif
