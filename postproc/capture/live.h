/* SPDX-License-Identifier: MIT */
/* A capture whose program still runs: which processes do, and up to when it is read. */
#ifndef PP_CAPTURE_LIVE_H
#define PP_CAPTURE_LIVE_H

#include "capture/capture.h"

/*
 * Chooses the instant up to which a live capture is read.  Call it before any file of a process is
 * read, after info.json.
 */
void pp_live_begin(struct pp_capture *capture);

/*
 * Sets process->is_live, and for the model that it is live.  holds_lock: the process holds the
 * lock of `session` as long as it runs.
 */
void pp_live_process(struct pp_capture *capture, struct pp_process *process, bool holds_lock);

/* This process holds the lock itself, so the lock tells nothing about others. */
void pp_live_is_recorder(void);

/* The kernel's events are not needed, so captures are read up to now. */
void pp_live_is_without_kernel(void);

/* Call it after all processes are read: no time of the model is after the instant. */
void pp_live_end(struct pp_capture *capture);

/* True for the copy of a live capture: info.json has "snapshot" {time_ns, kernel_ns, why}. */
bool pp_live_is_snapshot(const struct pp_model *model);

#endif
