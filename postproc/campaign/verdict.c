/* SPDX-License-Identifier: MIT */
/* See verdict.h. */
#include "campaign/verdict.h"

#include "statistics/rank_sum.h"

static void add_run(struct pp_step *step, const struct pp_campaign_run *run, unsigned n_cpus)
{
	const struct pp_measured *measured = &run->measured;
	double wall = (double)measured->wall_ns / 1e9;
	double use = pp_measured_use(measured, step->n_threads, n_cpus);

	g_array_append_val(step->wall, wall);
	if (use >= 0)
		g_array_append_val(step->use, use);
}

static const double *values(const GArray *array)
{
	return (const double *)(const void *)array->data;
}

static double compare(const GArray *after, const GArray *before)
{
	return pp_rank_sum_greater(values(after), after->len, values(before), before->len);
}

/* The test's result if each run is slower than all of before: one of all ways to divide them. */
static double least_probability(const GArray *after, const GArray *before)
{
	double ways = 1;

	for (guint i = 1; i <= before->len; i++)
		ways *= (double)(after->len + i) / i;
	return 1 / ways;
}

/* See PP_CAMPAIGN_RISE. */
static bool has_use_risen(const struct pp_step *step, const struct pp_step *before)
{
	double unused = 1 - step->use_spread.mean, unused_before = 1 - before->use_spread.mean;

	return step->use_rose < PP_CAMPAIGN_ALPHA &&
	       unused <= (1 - PP_CAMPAIGN_RISE) * unused_before;
}

/* Whether the recorded run objects to a problem of synchronization. */
static enum pp_verdict judge_waits(const struct pp_step *step, unsigned n_cpus,
				   const struct pp_time_use *recorded)
{
	double capacity_ns, unused_ns;

	if (!recorded || recorded->wall_ns <= 0 || recorded->waits_ns < 0)
		return PP_VERDICT_KEPT;
	capacity_ns = recorded->wall_ns * (double)MIN(step->n_threads, (int64_t)n_cpus);
	unused_ns = capacity_ns * (1 - step->use_spread.mean);
	if (recorded->waits_ns < PP_CAMPAIGN_WAITS * unused_ns)
		return PP_VERDICT_NO_WAITS;
	return recorded->waits_ns < PP_CAMPAIGN_WAITS * recorded->runnable_ns ? PP_VERDICT_NO_CPU
									      : PP_VERDICT_KEPT;
}

static enum pp_verdict decide(struct pp_step *step, unsigned n_cpus,
			      const struct pp_time_use *recorded, const struct pp_step *before)
{
	if (step->wall->len < 2)
		return PP_VERDICT_TOO_FEW;
	if (!before)
		return PP_VERDICT_FIRST;
	step->slower = compare(step->wall, before->wall);
	if (step->use->len && before->use->len)
		step->use_rose = compare(step->use, before->use);
	if (least_probability(step->wall, before->wall) >= PP_CAMPAIGN_ALPHA)
		return PP_VERDICT_UNDECIDED;
	if (step->slower >= PP_CAMPAIGN_ALPHA)
		return PP_VERDICT_NOT_SLOWER;
	if (step->use_rose < 0)
		return PP_VERDICT_USE_UNKNOWN;
	if (step->use_spread.mean >= PP_CAMPAIGN_LOW_USE)
		return PP_VERDICT_BUSY;
	if (has_use_risen(step, before))
		return PP_VERDICT_USE_ROSE;
	return judge_waits(step, n_cpus, recorded);
}

struct pp_step *pp_step_new(const GPtrArray *runs, const struct pp_point *point, int64_t n_threads,
			    unsigned n_cpus, const struct pp_time_use *recorded,
			    const struct pp_step *before)
{
	struct pp_step *step = g_new0(struct pp_step, 1);

	step->point = *point;
	step->n_threads = n_threads;
	step->slower = step->use_rose = -1;
	step->wall = g_array_new(FALSE, FALSE, sizeof(double));
	step->use = g_array_new(FALSE, FALSE, sizeof(double));
	for (guint i = 0; i < runs->len; i++) {
		const struct pp_campaign_run *run = runs->pdata[i];

		if (run->failure)
			step->n_failed++;
		else
			add_run(step, run, n_cpus);
	}
	step->wall_spread = pp_spread_of(values(step->wall), step->wall->len);
	step->use_spread = pp_spread_of(values(step->use), step->use->len);
	step->verdict = decide(step, n_cpus, recorded, before);
	return step;
}

void pp_step_free(void *data)
{
	struct pp_step *step = data;

	if (!step)
		return;
	g_array_unref(step->wall);
	g_array_unref(step->use);
	g_free(step);
}
