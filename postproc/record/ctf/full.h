/* SPDX-License-Identifier: MIT */
/*
 * The events of level `full`, beside those of the scheduler: one row each, from which they are
 * opened, decoded and described in CTF.
 *
 * Names and fields are LTTng's; of its fields those are left out that are the same as others (comm,
 * where there is a tid) or mean something to the kernel alone, to keep an event below 32 bytes.
 */
#ifndef PP_RECORD_CTF_FULL_H
#define PP_RECORD_CTF_FULL_H

#include <stdbool.h>
#include <stdint.h>

#include "record/ctf/kevent.h"

struct pp_full_field {
	const char *kernel; /* in the tracepoint's format; NULL: no more fields */
	const char *name;   /* LTTng's */
	uint8_t bytes;	    /* on disk */
	char type; /* u, i (signed), x (shown in hexadecimal), r (letters to LTTng's bits) */
};

struct pp_full_event {
	const char *tracepoint;
	const char *name;  /* NULL: a system call, whose classes are declared when they come */
	const char *group; /* what a person calls it */
	bool has_tid;	   /* its context says whose it is: the thread on that CPU */
	struct pp_full_field fields[PP_N_VALUES];
};

/* Of signal_generate's values: the thread it is for. */
#define PP_SIGNAL_TARGET 3

/* By kind - PP_KEVENT_FULL. */
extern const struct pp_full_event pp_full_events[PP_N_FULL];

/* "WS" -> LTTng's rwbs. */
uint64_t pp_full_rwbs(const char *letters, unsigned n);

#endif
