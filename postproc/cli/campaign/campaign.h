/* SPDX-License-Identifier: MIT */
/*
 * A campaign: its tests, options and results (paper 000, section 3.1).
 *
 * A test is run N times at each workload, with the most CPUs and threads, until a workload exposes
 * a synchronization problem (campaign/verdict.h).  Before that it is recorded once: the capture
 * tells the number of threads, and where the time goes.  A workload that exposes a problem is then
 * recorded again, until the metrics of all critical sections are conclusive, or 10 times.  Last,
 * the test is run with each other number of CPUs and threads.
 *
 * Each run is looked up in the log first.  So a campaign that is resumed makes the same decisions
 * again from the runs that were made, and continues where it was ended.
 */
#ifndef PP_CLI_CAMPAIGN_CAMPAIGN_H
#define PP_CLI_CAMPAIGN_CAMPAIGN_H

#include "campaign/log.h"
#include "campaign/verdict.h"
#include "cli/campaign/facts.h"
#include "cli/ranking.h"

/* Recorded runs of a workload that exposes a problem. */
#define PP_CAMPAIGN_RECORDED 10
/* With that many failed runs and no other, the next ones would fail, too. */
#define PP_CAMPAIGN_HOPELESS 3

/* Why a campaign was ended before all its runs were made. */
enum pp_campaign_end { PP_END_DONE, PP_END_INTERRUPTED, PP_END_BUDGET, PP_END_FAILED };

/* Which of a test's numbers a series of steps varies. */
enum pp_series { PP_SERIES_THREADS, PP_SERIES_CPUS, PP_N_SERIES };

struct pp_tested {
	const struct pp_test *test;
	GPtrArray *steps;		/* of struct pp_step *: by workload */
	const struct pp_step *kept;	/* exposes a problem; NULL: none does */
	GPtrArray *series[PP_N_SERIES]; /* of struct pp_step *; empty: it does not vary */
	struct pp_ranking *ranking;	/* of the recorded runs of `kept`; NULL: none */
};

struct pp_campaign {
	/* Set by the caller. */
	GPtrArray *tests; /* of struct pp_test * */
	uint64_t n_runs;
	int64_t timeout_ns, budget_ns; /* 0: none */
	GPtrArray *settings;	       /* of const char *: for record --set */
	enum pp_bottleneck_metric metric;
	struct pp_campaign_log log;

	/* Results. */
	GPtrArray *tested; /* of struct pp_tested * */
	enum pp_campaign_end end;

	/* Internal. */
	int64_t start_ns;
	guint n_made, n_left; /* runs; n_left: at most */
	GHashTable *facts;    /* name of a capture -> struct pp_facts * */
};

#endif
