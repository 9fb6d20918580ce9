/* SPDX-License-Identifier: MIT */
/*
 * Runs a command and measures it from outside: wall time, CPU time, memory.
 *
 * The command gets no input, and is a process group of its own, so that one that hangs can be ended
 * with all its processes, and Ctrl-C reaches only this process.  CPU time is that of the command
 * and of the descendants that were waited for (wait4()).
 *
 * Context: one thread.  Between pp_measure_begin() and pp_measure_end(), SIGINT, SIGTERM, SIGHUP
 * and SIGCHLD are blocked, and received by pp_measure_run().
 */
#ifndef PP_CAMPAIGN_MEASURE_H
#define PP_CAMPAIGN_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

struct pp_measure {
	char *const *argv;
	char *const *env;   /* NULL: that of this process */
	unsigned n_cpus;    /* it may use only the first CPUs of this process; 0: all of these */
	int64_t timeout_ns; /* 0: none */
	const char *input;  /* a file; NULL: no input */
	const char *output; /* the file for what it prints; NULL: discarded */
};

struct pp_measured {
	int64_t wall_ns; /* from before its start until it was waited for */
	int64_t user_ns, system_ns;
	int64_t max_rss_bytes;		/* of its largest process */
	int64_t voluntary, involuntary; /* context switches */
	int status;			/* of wait4() */
	bool timed_out;			/* it was killed */
	int interrupted; /* it was killed because this process received that signal; 0: none */
};

void pp_measure_begin(void);
void pp_measure_end(void);

/*
 * Returns 0 if the command was started, however it ended, or -errno, also if it cannot be executed.
 */
int pp_measure_run(const struct pp_measure *how, struct pp_measured *ret, struct pp_error *err);

/* The signal that was received since pp_measure_begin() and is to end this process; 0: none. */
int pp_measure_interrupted(void);

/*
 * The CPU use: CPU time / (wall time * min(threads, CPUs)).  Negative if one of these is not known
 * (0).
 */
double pp_measured_use(const struct pp_measured *measured, int64_t n_threads, unsigned n_cpus);

/* The number of CPUs that this process may use. */
unsigned pp_measure_cpus(void);

#endif
