/* SPDX-License-Identifier: MIT */
/* Simulations differ in the seed of their random numbers, skeletons by what the threads do. */
#include "cli/replay/runs.h"

#include <math.h>

#include "replay/simulate.h"

/* The figures of each run. */
struct figures {
	double *ns, *cpus;
};

static void set_figures(const struct figures *figures, uint32_t run, int64_t ns, int64_t cpu_ns)
{
	figures->ns[run] = (double)ns;
	figures->cpus[run] = (double)cpu_ns / (double)MAX(ns, 1);
}

static int run_skeletons(const struct pp_cli_replay_arguments *arguments,
			 const struct pp_replay_model *model, uint32_t n_cpus,
			 const struct figures *figures, struct pp_cli_replay_outcome *outcome,
			 struct pp_error *err)
{
	struct pp_skeleton_how how = {.n_cpus = n_cpus, .order = arguments->order};
	struct pp_skeleton *skeleton = pp_skeleton_new(model, &how, err);
	double all_ns = 1, others_ns = 0;
	int code = skeleton ? 0 : -EINVAL;

	for (uint32_t i = 0; code == 0 && !outcome->n_stuck && i < arguments->n_runs; i++) {
		struct pp_skeleton_run run = {0};

		code = pp_skeleton_run(skeleton, &run, err);
		set_figures(figures, i, run.ns, run.cpu_ns);
		outcome->n_stuck = run.n_stuck;
		outcome->stuck = g_steal_pointer(&run.stuck);
		all_ns += (double)run.ns;
		others_ns += (double)run.others_ns;
		pp_skeleton_run_done(&run);
	}
	outcome->others = others_ns / all_ns;
	pp_skeleton_free(skeleton);
	return code;
}

static void run_simulations(const struct pp_cli_replay_arguments *arguments,
			    const struct pp_replay_model *model, uint32_t n_cpus, uint32_t others,
			    const struct figures *figures, struct pp_cli_replay_outcome *outcome)
{
	for (uint32_t i = 0; i < arguments->n_runs; i++) {
		struct pp_simulation how = {n_cpus, others, arguments->fair, i, NULL};
		struct pp_simulated simulated;

		pp_simulate(model, &how, &simulated);
		set_figures(figures, i, simulated.ns, simulated.cpu_ns);
		outcome->n_stuck = MAX(outcome->n_stuck, simulated.n_stuck);
		pp_simulated_done(&simulated);
	}
}

int pp_cli_replay_run(const struct pp_cli_replay_arguments *arguments,
		      const struct pp_replay_model *model, uint32_t n_cpus, uint32_t others,
		      struct pp_cli_replay_outcome *ret, struct pp_error *err)
{
	g_autofree double *ns = g_new0(double, arguments->n_runs);
	g_autofree double *cpus = g_new0(double, arguments->n_runs);
	struct figures figures = {ns, cpus};
	int code = 0;

	*ret = (struct pp_cli_replay_outcome){0};
	if (arguments->engine == PP_CLI_REPLAY_SKELETON)
		code = run_skeletons(arguments, model, n_cpus, &figures, ret, err);
	else
		run_simulations(arguments, model, n_cpus, others, &figures, ret);
	ret->ns = pp_spread_of(ns, arguments->n_runs);
	ret->cpus = pp_spread_of(cpus, arguments->n_runs);
	return code;
}

void pp_cli_replay_outcome_done(struct pp_cli_replay_outcome *outcome)
{
	g_clear_pointer(&outcome->stuck, g_free);
}

struct pp_cli_replay_effect pp_cli_replay_effect(const struct pp_cli_replay_outcome *before,
						 const struct pp_cli_replay_outcome *after)
{
	double n_before = (double)before->ns.n, n_after = (double)after->ns.n;
	double mean = MAX(before->ns.mean, 1);
	double error = hypot(before->ns.sigma / sqrt(n_before), after->ns.sigma / sqrt(n_after));

	return (struct pp_cli_replay_effect){
	    .pct = 100 * (after->ns.mean - before->ns.mean) / mean,
	    .error_pct = 100 * pp_student_975(n_before + n_after - 2) * error / mean,
	};
}
