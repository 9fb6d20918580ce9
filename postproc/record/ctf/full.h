/* SPDX-License-Identifier: MIT */
/*
 * The events of level full beside the scheduler's.  One row per event drives opening, decoding and
 * the CTF description.
 *
 * Names and fields are LTTng's.  Fields are omitted if they repeat others (comm, where there is a
 * tid) or matter only to the kernel, to keep an event below 32 bytes.
 */
#ifndef PP_RECORD_CTF_FULL_H
#define PP_RECORD_CTF_FULL_H

#include <stdbool.h>
#include <stdint.h>

#include "record/ctf/kevent.h"

struct pp_full_field {
	const char *kernel; /* name in the tracepoint's format; NULL: no more fields */
	const char *name;   /* LTTng's name */
	uint8_t bytes;	    /* size on disk */
	char type; /* u, i (signed), x (shown in hexadecimal), r (letters that become LTTng's
		    * bits) */
};

struct pp_full_event {
	const char *tracepoint;
	const char *name;  /* NULL: a system call; its classes are declared on demand */
	const char *group; /* for messages */
	bool has_tid;	   /* its context names the thread on that CPU */
	struct pp_full_field fields[PP_N_VALUES];
};

/* Index in signal_generate's values of the receiving thread. */
#define PP_SIGNAL_TARGET 3

/* Indexed by kind - PP_KEVENT_FULL. */
extern const struct pp_full_event pp_full_events[PP_N_FULL];

/* Converts letters like "WS" to LTTng's rwbs bits. */
uint64_t pp_full_rwbs(const char *letters, unsigned n);

#endif
