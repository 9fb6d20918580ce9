/* SPDX-License-Identifier: MIT */
/* Decides which runs to make (campaign.h), from those that were made. */
#include "cli/campaign/engine.h"

#include "cli/campaign/runs.h"

static int64_t last_of(const GArray *numbers)
{
	return numbers && numbers->len ? g_array_index(numbers, int64_t, numbers->len - 1) : 0;
}

static guint length(const GArray *numbers)
{
	return numbers ? numbers->len : 0;
}

/* --- the number of runs, for the time that is left ------------------------------------------ */

static guint runs_of_step(const struct pp_campaign *campaign, const struct pp_test *test)
{
	return 1 + (guint)test->warmup + (guint)campaign->n_runs;
}

static guint n_workloads(const struct pp_test *test)
{
	return MAX(MIN(length(test->workload), PP_CAMPAIGN_STEPS), 1);
}

/* Points of both series other than the last one of each, which is measured anyway. */
static guint n_other_points(const struct pp_test *test)
{
	return length(test->cpus) - (length(test->cpus) > 0) + length(test->threads) -
	       (length(test->threads) > 0);
}

static guint most_runs(const struct pp_campaign *campaign)
{
	guint n = 0;

	for (guint i = 0; i < campaign->tests->len; i++) {
		const struct pp_test *test = campaign->tests->pdata[i];

		n += (n_workloads(test) + n_other_points(test)) * runs_of_step(campaign, test) +
		     PP_CAMPAIGN_RECORDED - 1;
	}
	return n > campaign->log.runs->len ? n - campaign->log.runs->len : 0;
}

/* Runs that will not be made. */
static void skip_runs(struct pp_campaign *campaign, guint n)
{
	campaign->n_left -= MIN(n, campaign->n_left);
}

/* --- steps ---------------------------------------------------------------------------------- */

/* The first recorded run that succeeded; NULL: none. */
static const struct pp_campaign_run *recorded_run(const struct pp_campaign *campaign,
						  const struct pp_test *test,
						  const struct pp_point *point)
{
	g_autoptr(GPtrArray) runs =
	    pp_campaign_log_find(&campaign->log, test, point, PP_RUN_RECORDED);

	for (guint i = 0; i < runs->len; i++)
		if (!((const struct pp_campaign_run *)runs->pdata[i])->failure)
			return runs->pdata[i];
	return NULL;
}

char *pp_campaign_capture(const struct pp_campaign *campaign, const struct pp_test *test,
			  const struct pp_step *step)
{
	const struct pp_campaign_run *run = recorded_run(campaign, test, &step->point);

	return run ? g_build_filename(campaign->log.dir, run->file, NULL) : NULL;
}

const struct pp_facts *pp_campaign_facts(struct pp_campaign *campaign, const struct pp_test *test,
					 const struct pp_point *point)
{
	const struct pp_campaign_run *run = recorded_run(campaign, test, point);
	struct pp_facts *facts = run ? g_hash_table_lookup(campaign->facts, run->file) : NULL;

	if (run && !facts) {
		g_autofree char *dir = g_build_filename(campaign->log.dir, run->file, NULL);

		pp_campaign_progress_end();
		facts = pp_facts_read(dir);
		g_hash_table_insert(campaign->facts, g_strdup(run->file), facts);
	}
	return facts;
}

/* If a recorded run fails, it is repeated, since the others cannot be judged without one. */
static int record_one(struct pp_campaign *campaign, const struct pp_test *test,
		      const struct pp_point *point, struct pp_error *err)
{
	int rc = 0;

	for (unsigned n = 1; n <= PP_CAMPAIGN_HOPELESS && rc == 0; n++) {
		if (campaign->end != PP_END_DONE || recorded_run(campaign, test, point))
			break;
		rc = pp_campaign_make_runs(campaign, test, point, PP_RUN_RECORDED, n, err);
	}
	return rc;
}

/*
 * Makes the runs of a point, and sums them up.  If the campaign is to end before, *ret_step has the
 * runs so far; it is NULL if there are none.
 */
static int make_step(struct pp_campaign *campaign, const struct pp_test *test,
		     const struct pp_point *point, const struct pp_step *before,
		     struct pp_step **ret_step, struct pp_error *err)
{
	int rc = record_one(campaign, test, point, err);
	const struct pp_campaign_run *recorded = recorded_run(campaign, test, point);
	int64_t n_threads = point->threads ? point->threads : recorded ? recorded->peak_threads : 0;
	unsigned n_cpus = pp_point_cpus(point);
	const struct pp_facts *facts;
	g_autoptr(GPtrArray) runs = NULL;

	if (rc == 0)
		rc = pp_campaign_make_runs(campaign, test, point, PP_RUN_WARMUP,
					   (uint64_t)test->warmup, err);
	if (rc == 0)
		rc = pp_campaign_make_runs(campaign, test, point, PP_RUN_PLAIN, campaign->n_runs,
					   err);
	runs = pp_campaign_log_find(&campaign->log, test, point, PP_RUN_PLAIN);
	facts = pp_campaign_facts(campaign, test, point);
	*ret_step = runs->len ? pp_step_new(runs, point, n_threads, n_cpus,
					    facts && !facts->error ? &facts->time : NULL, before)
			      : NULL;
	return rc;
}

static struct pp_point top_point(const struct pp_test *test, int64_t workload)
{
	return (struct pp_point){workload, last_of(test->cpus), last_of(test->threads)};
}

/* Raises the workload until it exposes a problem. */
static int search(struct pp_campaign *campaign, struct pp_tested *tested, struct pp_error *err)
{
	const struct pp_test *test = tested->test;
	guint n = n_workloads(test), i;
	int rc = 0;

	for (i = 0; i < n && rc == 0 && campaign->end == PP_END_DONE && !tested->kept; i++) {
		const struct pp_step *before =
		    i ? tested->steps->pdata[tested->steps->len - 1] : NULL;
		struct pp_point point = top_point(
		    test, length(test->workload) ? g_array_index(test->workload, int64_t, i) : 0);
		struct pp_step *step;

		rc = make_step(campaign, test, &point, before, &step, err);
		if (!step)
			break;
		g_ptr_array_add(tested->steps, step);
		if (campaign->end != PP_END_DONE)
			step->verdict = PP_VERDICT_INCOMPLETE;
		if (step->verdict == PP_VERDICT_KEPT)
			tested->kept = step;
		if (step->verdict == PP_VERDICT_TOO_FEW)
			break;
	}
	skip_runs(campaign, (n - MIN(i, n)) * runs_of_step(campaign, test));
	return rc;
}

/* --- ranking -------------------------------------------------------------------------------- */

/*
 * Adds the recorded runs from the n-th one on; those that cannot be used become failed ones.
 * Returns the number of all.
 */
static guint read_recorded(struct pp_campaign *campaign, struct pp_tested *tested, guint n)
{
	g_autoptr(GPtrArray) runs = pp_campaign_log_find(&campaign->log, tested->test,
							 &tested->kept->point, PP_RUN_RECORDED);

	for (; n < runs->len; n++) {
		struct pp_campaign_run *run = runs->pdata[n];
		struct pp_error err = PP_ERROR_INIT;
		g_autofree char *dir = NULL;

		if (run->failure)
			continue;
		dir = g_build_filename(campaign->log.dir, run->file, NULL);
		if (pp_ranking_add(tested->ranking, dir, NULL, &err))
			run->failure = pp_error_text(&err);
		pp_error_done(&err);
	}
	return n;
}

/* Records the workload that exposes a problem until the ranking is conclusive. */
static int rank(struct pp_campaign *campaign, struct pp_tested *tested, struct pp_error *err)
{
	guint n_read = 0, n;
	int rc = 0;

	tested->ranking = pp_ranking_new(campaign->metric, NULL);
	for (n = 1; n <= PP_CAMPAIGN_RECORDED && rc == 0 && campaign->end == PP_END_DONE; n++) {
		if (pp_ranking_is_conclusive(tested->ranking))
			break;
		rc = pp_campaign_make_runs(campaign, tested->test, &tested->kept->point,
					   PP_RUN_RECORDED, n, err);
		pp_campaign_progress_end();
		n_read = read_recorded(campaign, tested, n_read);
	}
	/* If nothing can be run any more, these are runs that were made before. */
	read_recorded(campaign, tested, n_read);
	return rc;
}

/* --- scalability ---------------------------------------------------------------------------- */

static int measure_series(struct pp_campaign *campaign, struct pp_tested *tested,
			  enum pp_series kind, int64_t workload, struct pp_error *err)
{
	const struct pp_test *test = tested->test;
	const GArray *numbers = kind == PP_SERIES_THREADS ? test->threads : test->cpus;
	int rc = 0;

	if (length(numbers) < 2)
		return 0;
	for (guint i = 0; i < numbers->len && rc == 0; i++) {
		struct pp_point point = top_point(test, workload);
		struct pp_step *step;

		*(kind == PP_SERIES_THREADS ? &point.threads : &point.cpus) =
		    g_array_index(numbers, int64_t, i);
		rc = make_step(campaign, test, &point, NULL, &step, err);
		if (step)
			g_ptr_array_add(tested->series[kind], step);
	}
	return rc;
}

/* At the workload that exposes a problem, or the last one that could be measured. */
static int measure_scaling(struct pp_campaign *campaign, struct pp_tested *tested,
			   struct pp_error *err)
{
	const struct pp_step *at = tested->kept;
	int rc = 0;

	for (guint i = tested->steps->len; i-- > 0 && !at;) {
		const struct pp_step *step = tested->steps->pdata[i];

		if (step->verdict != PP_VERDICT_TOO_FEW)
			at = step;
	}
	for (unsigned kind = 0; at && kind < PP_N_SERIES && rc == 0; kind++)
		rc = measure_series(campaign, tested, kind, at->point.workload, err);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

static void tested_free(void *data)
{
	struct pp_tested *tested = data;

	g_ptr_array_unref(tested->steps);
	for (unsigned i = 0; i < PP_N_SERIES; i++)
		g_ptr_array_unref(tested->series[i]);
	pp_ranking_free(tested->ranking);
	g_free(tested);
}

static struct pp_tested *tested_new(const struct pp_test *test)
{
	struct pp_tested *tested = g_new0(struct pp_tested, 1);

	tested->test = test;
	tested->steps = g_ptr_array_new_with_free_func(pp_step_free);
	for (unsigned i = 0; i < PP_N_SERIES; i++)
		tested->series[i] = g_ptr_array_new_with_free_func(pp_step_free);
	return tested;
}

int pp_campaign_run_all(struct pp_campaign *campaign, struct pp_error *err)
{
	int rc = 0;

	campaign->tested = g_ptr_array_new_with_free_func(tested_free);
	campaign->facts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, pp_facts_free);
	campaign->start_ns = g_get_monotonic_time() * 1000;
	campaign->n_left = most_runs(campaign);
	pp_measure_begin();
	for (guint i = 0; i < campaign->tests->len && rc == 0; i++) {
		g_ptr_array_add(campaign->tested, tested_new(campaign->tests->pdata[i]));
		rc = search(campaign, campaign->tested->pdata[i], err);
	}
	for (guint i = 0; i < campaign->tested->len && rc == 0; i++) {
		struct pp_tested *tested = campaign->tested->pdata[i];

		if (tested->kept)
			rc = rank(campaign, tested, err);
		else
			skip_runs(campaign, PP_CAMPAIGN_RECORDED - 1);
	}
	for (guint i = 0; i < campaign->tested->len && rc == 0; i++)
		rc = measure_scaling(campaign, campaign->tested->pdata[i], err);
	pp_campaign_progress_end();
	/* A signal during the last readings must not end this process before its output. */
	if (pp_measure_interrupted() && campaign->end == PP_END_DONE)
		campaign->end = PP_END_INTERRUPTED;
	pp_measure_end();
	return rc;
}

void pp_campaign_done(struct pp_campaign *campaign)
{
	g_clear_pointer(&campaign->tested, g_ptr_array_unref);
	g_clear_pointer(&campaign->facts, g_hash_table_unref);
}
