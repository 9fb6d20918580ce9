/* SPDX-License-Identifier: MIT */
/* A run of the program that is recorded with the order of its locks, and its schedule. */
#ifndef PP_CLI_LIVE_RECORDING_H
#define PP_CLI_LIVE_RECORDING_H

#include "campaign/measure.h"
#include "cli/view.h"
#include "replay/live/schedule.h"

struct pp_live_recording {
	struct pp_view view;
	struct pp_schedule *schedule;
	int64_t run_ns; /* from the start of the first thread to the end of the last one */
};

/*
 * Records the command in the new directory `dir`. schedule: the file of the schedule that the run
 * is to keep; NULL: none. Output goes to `output`; NULL: it is discarded. Returns 0 if it was
 * started, or -errno.
 */
int pp_live_record(char *const *command, const char *dir, const char *schedule, const char *output,
		   struct pp_measured *ret, struct pp_error *err);

/*
 * Reads the capture. Returns 0 or -errno; the caller calls pp_live_recording_done() in both cases.
 */
int pp_live_read(struct pp_live_recording *recording, const char *dir, struct pp_error *err);
void pp_live_recording_done(struct pp_live_recording *recording);

#endif
