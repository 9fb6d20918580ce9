/* SPDX-License-Identifier: MIT */
/* Events of the kernel beside the scheduler's: system calls, page faults, signals, disks, timers.
 */
#ifndef PP_INPUT_DECODE_FULL_H
#define PP_INPUT_DECODE_FULL_H

#include "input/decode.h"
#include "input/event_class.h"

/* Hands it over, if it is one of these and of the program's. */
void pp_decode_full(struct pp_stream *stream, const struct pp_event_class *class,
		    const bt_event *bt_event, struct pp_event *event);

#endif
