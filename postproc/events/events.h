/* SPDX-License-Identifier: MIT */
/* The events of a capture, in one sweep through all its traces, in order of time. */
#ifndef PP_EVENTS_EVENTS_H
#define PP_EVENTS_EVENTS_H

#include "core/event.h"
#include "capture/capture.h"

/*
 * Hands each event whose kind is in `kinds` (PP_EVENT_MASK) to `take`; traces that can hold none
 * of them are not read.  Reading the kernel's events adds threads to the model and widens the
 * lives of those it has.
 *
 * A damaged stream ends early, or is left out; that is damage of the capture, not an error.
 */
int pp_events_read(struct pp_capture *capture, unsigned kinds,
		   void (*take)(void *data, const struct pp_event *event), void *data,
		   struct pp_error *err);

/* The same; go_on(data) is asked now and then, and if it says false, it ends with -ECANCELED. */
int pp_events_read_while(struct pp_capture *capture, unsigned kinds,
			 void (*take)(void *data, const struct pp_event *event),
			 bool (*go_on)(void *data), void *data, struct pp_error *err);

/*
 * The same, where between two other events the calls of different threads come in any order, and at
 * the same time, each thread's by one of several.  A thread's first comes alone, in its turn.
 */
int pp_events_read_apart(struct pp_capture *capture, unsigned kinds,
			 void (*take)(void *data, const struct pp_event *event), void *data,
			 struct pp_error *err);

/*
 * A thread that did not live to say what it was called last has its names from the kernel's events,
 * one after the other, while they are read.  This reads them for the last ones alone, which no
 * later reading changes: for who wants names before.
 */
int pp_events_name_threads(struct pp_capture *capture, struct pp_error *err);

#endif
