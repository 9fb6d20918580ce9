/* SPDX-License-Identifier: MIT */
/*
 * Messages to `record` from processes that cannot write into the capture (runtime/recorder.h).
 */
#ifndef PP_COLLECT_MAILBOX_H
#define PP_COLLECT_MAILBOX_H

#include <stdint.h>

#include <glib.h>

struct pp_word {
	int32_t pid;  /* 0: in no PID namespace that is seen from here */
	int32_t code; /* errno */
};

struct pp_mailbox {
	int fd; /* to poll for POLLIN; -1: none */
	char *config;
	GArray *words; /* of struct pp_word, one for each process */
};

/* For the capture with that configuration.  Never fails: nobody is told of then. */
void pp_mailbox_open(struct pp_mailbox *mailbox, const char *config);
void pp_mailbox_done(struct pp_mailbox *mailbox);

/* Takes what has come. */
void pp_mailbox_read(struct pp_mailbox *mailbox);

#endif
