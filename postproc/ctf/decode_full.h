/* SPDX-License-Identifier: MIT */
/*
 * The kernel's events other than the scheduler's: system calls, page faults, signals, block I/O,
 * timers.
 */
#ifndef PP_CTF_DECODE_FULL_H
#define PP_CTF_DECODE_FULL_H

#include "ctf/stream.h"

/* Passes the event on if it is one of these and belongs to the program. */
void pp_decode_full(struct pp_stream *stream, const struct pp_record *record,
		    struct pp_event *event);

#endif
