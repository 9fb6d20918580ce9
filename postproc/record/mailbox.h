/* SPDX-License-Identifier: MIT */
/*
 * Requests to `record` from processes that cannot reach the capture (runtime/recorder.h): for files
 * of their own (grant.h), and words that they are not recorded.
 *
 * Anybody may connect.  A process that knows the secret of the capture is of this run.  One without
 * it, which may have executed another program since, can say that it is not recorded, and learn the
 * secret, if the kernel says that it descends from `record` or is in the capture, and still runs.
 */
#ifndef PP_RECORD_MAILBOX_H
#define PP_RECORD_MAILBOX_H

#include <stdint.h>

#include <glib.h>

#include "record/grant.h"
#include "runtime/capture.h"

struct pp_word {
	int32_t pid;  /* 0: in no PID namespace that is seen from here */
	int32_t code; /* errno */
};

struct pp_mailbox {
	int fd; /* to poll for POLLIN; -1: none */
	int listener;
	GHashTable *waiting; /* connections without a request yet: descriptor -> since when, us */
	const struct gm_capture *capture;
	struct pp_grants grants;
	GArray *words; /* of struct pp_word, one for each process */
	uint64_t n_refused;
};

/* For the capture, whose directory is `dir_fd`.  Never fails: nobody is heard then. */
void pp_mailbox_open(struct pp_mailbox *mailbox, const struct gm_capture *capture, int dir_fd,
		     uint64_t max_bytes);
void pp_mailbox_done(struct pp_mailbox *mailbox);

/* Answers what has come. */
void pp_mailbox_read(struct pp_mailbox *mailbox);

/* The program has ended: answers what has come, and nothing from then on. */
void pp_mailbox_stop(struct pp_mailbox *mailbox);

#endif
