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

struct pp_live_run {
	char *const *command;
	const char *dir;      /* of the capture, which is new */
	const char *schedule; /* the file of the schedule that the run is to keep; NULL: none */
	const char *output;   /* a file; NULL: output is discarded */
	const char *accesses; /* "sampled", "compiled"; NULL: as configured */
	int64_t timeout_ns;   /* the run is killed then; 0: never */
};

/* Records a run. Returns 0 if it was started, or -errno. */
int pp_live_record(const struct pp_live_run *run, struct pp_measured *ret, struct pp_error *err);

/*
 * Reads the capture. Returns 0 or -errno; the caller calls pp_live_recording_done() in both cases.
 */
int pp_live_read(struct pp_live_recording *recording, const char *dir, struct pp_error *err);

/* Receives all events of these kinds, and the operation of its thread that each has ended. */
struct pp_live_reader {
	unsigned kinds;
	void (*begin)(void *data, const struct pp_pass_context *context); /* NULL: not needed */
	void (*event)(void *data, const struct pp_event *event, uint64_t op);
	void *data;
};

int pp_live_read_with(struct pp_live_recording *recording, const char *dir,
		      const struct pp_live_reader *reader, struct pp_error *err);

void pp_live_recording_done(struct pp_live_recording *recording);

/*
 * The outcome of a run with that schedule, which the program has stored in its first page: "kept",
 * or where the program did something else. The caller frees it.
 */
char *pp_live_outcome_text(const struct pp_schedule *schedule, const struct st_schedule *page,
			   const struct pp_live_recording *run);

/* Creates the directory for captures; keep: its name, NULL: a temporary one. NULL: it failed. */
char *pp_live_make_work(const char *keep, struct pp_error *err);

#endif
