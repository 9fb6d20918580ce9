/* SPDX-License-Identifier: MIT */
/*
 * The runs of a campaign, in memory and in DIR/runs.jsonl: one line of JSON per run, written when
 * the run has ended.  So at any time the file has all runs that were made, and a campaign that was
 * ended early can continue.
 *
 * The first line has the tests.  A line that was cut short, at the end of the file, is dropped.  A
 * line that cannot be that of a run is an error: numbers below 0 or far beyond those of a run, a
 * run time of 0, a file outside DIR, a recorded run that has neither failed nor a capture.
 *
 *   {"schema": 1, "version", "tests": [{"test", "command", "workload", "threads", "cpus", "check",
 *    "warmup"}]}
 *   {"test", "workload", "cpus", "threads", "kind", "wall_ns", "user_ns", "system_ns",
 *    "max_rss_bytes", "voluntary", "involuntary", "exit_status" or "signal", "failure", "file",
 *    "peak_threads", "program_bytes", "program_modified_ns"}
 */
#ifndef PP_CAMPAIGN_LOG_H
#define PP_CAMPAIGN_LOG_H

#include "campaign/measure.h"
#include "campaign/plan.h"

#define PP_CAMPAIGN_LOG "runs.jsonl"

enum pp_run_kind { PP_RUN_PLAIN, PP_RUN_WARMUP, PP_RUN_RECORDED, PP_N_RUN_KINDS };

extern const char *const pp_run_kinds[PP_N_RUN_KINDS];

struct pp_campaign_run {
	char *test;
	struct pp_point point;
	enum pp_run_kind kind;
	struct pp_measured measured;
	char *failure;	      /* why it does not count; NULL: it does */
	char *file;	      /* in DIR: the capture, or what a failed run printed; NULL: none */
	int64_t peak_threads; /* alive at the same time, from the capture; 0: not known */
	/* Size of the program's file, and when it was modified; 0: not known. */
	int64_t program_bytes, program_modified_ns;
};

struct pp_campaign_log {
	char *dir;
	GPtrArray *runs; /* of struct pp_campaign_run *, in the order in which they were made */
	int fd;
};

/*
 * Creates DIR, or, to continue, reads it.  Fails if DIR exists, or, to continue, if it has no
 * campaign or one of other tests.  Returns 0 or -errno.
 */
int pp_campaign_log_open(struct pp_campaign_log *log, const char *dir, const GPtrArray *tests,
			 bool resume, struct pp_error *err);

/* Takes ownership of the run, also on failure.  Returns 0 or -errno. */
int pp_campaign_log_add(struct pp_campaign_log *log, struct pp_campaign_run *run,
			struct pp_error *err);

void pp_campaign_log_done(struct pp_campaign_log *log);

/* Frees a run (struct pp_campaign_run) that is in no log. */
void pp_campaign_run_free(void *run);

bool pp_campaign_run_is_of(const struct pp_campaign_run *run, const struct pp_test *test,
			   const struct pp_point *point, enum pp_run_kind kind);

/* Runs of a test at a point: of struct pp_campaign_run *, in order.  The caller unrefs the array.
 */
GPtrArray *pp_campaign_log_find(const struct pp_campaign_log *log, const struct pp_test *test,
				const struct pp_point *point, enum pp_run_kind kind);

#endif
