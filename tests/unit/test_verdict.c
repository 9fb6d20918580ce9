/* SPDX-License-Identifier: MIT */
/* The verdict on a workload (campaign/verdict.h), from run times and CPU times. */
#include "campaign/verdict.h"

#include "check.h"

#define N_RUNS	  6
#define N_THREADS 4
#define N_CPUS	  2

static const struct pp_point point = {.workload = 1};

/* Runs of about that time, which use this part of both CPUs. */
static struct pp_step *step_of(int n_runs, double wall_s, double use,
			       const struct pp_time_use *recorded, const struct pp_step *before)
{
	g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func(pp_campaign_run_free);

	for (int i = 0; i < n_runs; i++) {
		struct pp_campaign_run *run = g_new0(struct pp_campaign_run, 1);
		double run_s = wall_s * (1 + 0.001 * i);

		run->measured.wall_ns = (int64_t)(run_s * 1e9);
		run->measured.user_ns = (int64_t)(run_s * 1e9 * N_CPUS * (use + 0.001 * i));
		g_ptr_array_add(runs, run);
	}
	return pp_step_new(runs, &point, N_THREADS, N_CPUS, recorded, before);
}

/* The verdict on one second at CPU use `use`, after half a second at `use_before`. */
static enum pp_verdict verdict(double use_before, double use, const struct pp_time_use *recorded)
{
	struct pp_step *before = step_of(N_RUNS, 0.5, use_before, NULL, NULL);
	struct pp_step *step = step_of(N_RUNS, 1, use, recorded, before);
	enum pp_verdict found = step->verdict;

	pp_step_free(step);
	pp_step_free(before);
	return found;
}

static void test_use(void)
{
	CHECK_INT(verdict(0.50, 0.50, NULL), PP_VERDICT_KEPT);
	CHECK_INT(verdict(0.60, 0.50, NULL), PP_VERDICT_KEPT);
	/* The test alone finds each rise; half of the CPU time was not used before. */
	CHECK_INT(verdict(0.50, 0.54, NULL), PP_VERDICT_KEPT);
	CHECK_INT(verdict(0.50, 0.56, NULL), PP_VERDICT_USE_ROSE);
	CHECK_INT(verdict(0.80, 0.81, NULL), PP_VERDICT_KEPT);
	CHECK_INT(verdict(0.80, 0.83, NULL), PP_VERDICT_USE_ROSE);
	CHECK_INT(verdict(0.50, 0.95, NULL), PP_VERDICT_BUSY);
}

/* Half of two CPUs was not used in one second: a tenth of that is 100 ms. */
static void test_waits(void)
{
	struct pp_time_use time = {.wall_ns = 1e9, .runnable_ns = -1, .waits_ns = 0.11e9};

	CHECK_INT(verdict(0.50, 0.50, &time), PP_VERDICT_KEPT);
	time.waits_ns = 0.09e9;
	CHECK_INT(verdict(0.50, 0.50, &time), PP_VERDICT_NO_WAITS);
	/* Other programs used the CPUs. */
	time.waits_ns = 0.2e9;
	time.runnable_ns = 1.9e9;
	CHECK_INT(verdict(0.50, 0.50, &time), PP_VERDICT_KEPT);
	time.runnable_ns = 2.1e9;
	CHECK_INT(verdict(0.50, 0.50, &time), PP_VERDICT_NO_CPU);
	time.waits_ns = 0.09e9;
	CHECK_INT(verdict(0.50, 0.50, &time), PP_VERDICT_NO_WAITS);
	time.waits_ns = -1;
	CHECK_INT(verdict(0.50, 0.50, &time), PP_VERDICT_KEPT);
}

/* Runs that take twice as long, in such numbers. */
static enum pp_verdict verdict_of(int n_before, int n_after)
{
	struct pp_step *before = step_of(n_before, 0.5, 0.5, NULL, NULL);
	struct pp_step *step = step_of(n_after, 1, 0.5, NULL, before);
	enum pp_verdict found = step->verdict;

	pp_step_free(step);
	pp_step_free(before);
	return found;
}

/* All of `after` are slower: that is one of 20, 35, 21 or 15 ways to divide the runs. */
static void test_few_runs(void)
{
	CHECK_INT(verdict_of(3, 3), PP_VERDICT_UNDECIDED);
	CHECK_INT(verdict_of(4, 3), PP_VERDICT_KEPT);
	CHECK_INT(verdict_of(5, 2), PP_VERDICT_KEPT);
	CHECK_INT(verdict_of(2, 4), PP_VERDICT_UNDECIDED);
	CHECK_INT(verdict_of(200, 200), PP_VERDICT_KEPT);
	CHECK_INT(verdict_of(4, 1), PP_VERDICT_TOO_FEW);
}

int main(void)
{
	test_few_runs();
	test_use();
	test_waits();
	return 0;
}
