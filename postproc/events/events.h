/* SPDX-License-Identifier: MIT */
/* All events of a capture, from all its traces, in one sweep in time order. */
#ifndef PP_EVENTS_EVENTS_H
#define PP_EVENTS_EVENTS_H

#include "core/event.h"
#include "core/windows.h"
#include "capture/capture.h"

/*
 * Passes each event whose kind is in `kinds` (PP_EVENT_MASK) to `take`. Traces that cannot contain
 * such events are not read.  Kernel events add threads to the model and extend the lifetimes of
 * known ones.
 *
 * A damaged stream ends early, or is skipped.  This is recorded as damage of the capture, and is
 * not an error.  Returns 0 or -errno.
 */
int pp_events_read(struct pp_capture *capture, unsigned kinds,
		   void (*take)(void *data, const struct pp_event *event), void *data,
		   struct pp_error *err);

/* The same, but calls go_on(data) regularly, and returns -ECANCELED when that returns false. */
int pp_events_read_while(struct pp_capture *capture, unsigned kinds,
			 void (*take)(void *data, const struct pp_event *event),
			 bool (*go_on)(void *data), void *data, struct pp_error *err);

/* True if pp_events_read_windows() can read the capture's synch-events. */
bool pp_events_have_windows(const struct pp_capture *capture);

/*
 * The same, but reads only about max_bytes of our own traces, in windows that it places in the time
 * before the first event (ctf/windowed.h), unless the caller has placed some; the caller frees them
 * with pp_windows_done().
 */
int pp_events_read_windows(struct pp_capture *capture, unsigned kinds, struct pp_windows *windows,
			   uint64_t max_bytes,
			   void (*take)(void *data, const struct pp_event *event),
			   bool (*go_on)(void *data), void *data, struct pp_error *err);

/*
 * The same, but between two other events, calls of different threads may arrive in any order and at
 * the same time; those of one thread arrive in order.  The first call of each thread arrives alone,
 * in time order.
 */
int pp_events_read_apart(struct pp_capture *capture, unsigned kinds,
			 void (*take)(void *data, const struct pp_event *event), void *data,
			 struct pp_error *err);

/*
 * Reads the kernel's events for the last names of threads that did not record their names at exit.
 * Such threads otherwise change names while events are read.  To be called if names are needed
 * before the events; later readings do not change the names.
 */
int pp_events_name_threads(struct pp_capture *capture, struct pp_error *err);

#endif
