/* SPDX-License-Identifier: MIT */
/* Events of the kernel beside the scheduler's: system calls, page faults, signals, disks, timers.
 */
#ifndef PP_CTF_DECODE_FULL_H
#define PP_CTF_DECODE_FULL_H

#include "ctf/stream.h"

/* Hands it over, if it is one of these and of the program's. */
void pp_decode_full(struct pp_stream *stream, const struct pp_record *record,
		    struct pp_event *event);

#endif
