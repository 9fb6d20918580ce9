/* SPDX-License-Identifier: MIT */
/*
 * Decides whether a raised workload exposes a synchronization problem (paper 000, section 3.1): the
 * run time rose, but the CPU use did not, and is low.
 *
 * Differences to the paper: a small rise of the CPU use does not count (PP_CAMPAIGN_RISE).
 * Programs that wait for I/O, and any on a machine with other load, do the same.  So a
 * recorded run can object: if waits for each other make up little of the CPU time that was
 * not used, or of the time in which threads were ready without a CPU.
 */
#ifndef PP_CAMPAIGN_VERDICT_H
#define PP_CAMPAIGN_VERDICT_H

#include "campaign/log.h"
#include "statistics/spread.h"

#define PP_CAMPAIGN_ALPHA   0.05
#define PP_CAMPAIGN_LOW_USE 0.9
/*
 * The least part of the CPU time not used that a rise of the CPU use has to use.  A start-up of
 * constant length, as nearly all programs have, is a smaller part of longer runs, so that the CPU
 * use rises a little with each workload, also if all threads wait for one lock.  A test at any
 * level finds that, with enough runs.
 */
#define PP_CAMPAIGN_RISE 0.1
/*
 * The least share of waits in the CPU time that was not used, and in the time without a CPU.  The
 * latter rejects no problem on a machine without other load.  Let n threads leave a CPU of C unused
 * for a share f of the time, since they wait for each other: then n - C + 1 wait at least, and
 * during the rest n - C at most have no CPU.  Waits below a tenth of that make f less than 1/11,
 * and so the CPU use is above 90 %.
 */
#define PP_CAMPAIGN_WAITS 0.1

enum pp_verdict {
	PP_VERDICT_FIRST,	/* nothing to compare with */
	PP_VERDICT_KEPT,	/* exposes a problem */
	PP_VERDICT_NOT_SLOWER,	/* the run time did not rise */
	PP_VERDICT_USE_ROSE,	/* the CPU use rose */
	PP_VERDICT_BUSY,	/* the CPU use is 90 % or more */
	PP_VERDICT_NO_WAITS,	/* threads hardly waited for each other */
	PP_VERDICT_NO_CPU,	/* they were ready without a CPU for far longer */
	PP_VERDICT_USE_UNKNOWN, /* the number of threads is not known */
	PP_VERDICT_TOO_FEW,	/* fewer than two runs count */
	PP_VERDICT_UNDECIDED,	/* so few runs count that no difference is significant */
	PP_VERDICT_INCOMPLETE,	/* runs are missing, since the campaign was ended */
	PP_N_VERDICTS
};

/*
 * The time of all threads in a recorded run, by mode.  Sums over threads, except for wall_ns;
 * negative: not known.
 */
struct pp_time_use {
	double wall_ns, lifetime_ns;
	double running_ns, runnable_ns, blocked_sync_ns, blocked_other_ns;
	double waits_ns; /* for objects, without idle waits and joins */
};

/* The runs of a test at a point. */
struct pp_step {
	struct pp_point point;
	int64_t n_threads; /* 0: not known */
	GArray *wall;	   /* of double, seconds */
	GArray *use; /* of double: CPU time / (wall time * min(threads, CPUs)); empty: not known */
	unsigned n_failed;
	struct pp_spread wall_spread, use_spread;
	double slower, use_rose; /* probabilities (statistics/rank_sum.h); -1: not compared */
	enum pp_verdict verdict;
};

/*
 * Sums up the runs that count, and compares them with those of a smaller workload (NULL: the step
 * is the first one).  n_threads: 0: not known; recorded: NULL: not known.  The caller calls
 * pp_step_free().
 */
struct pp_step *pp_step_new(const GPtrArray *runs, const struct pp_point *point, int64_t n_threads,
			    unsigned n_cpus, const struct pp_time_use *recorded,
			    const struct pp_step *before);
void pp_step_free(void *step);

#endif
