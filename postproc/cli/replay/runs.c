/* SPDX-License-Identifier: MIT */
/* Replays differ in the seed of their random numbers. */
#include "cli/replay/runs.h"

#include "replay/simulate.h"

struct pp_cli_replay_outcome pp_cli_replay_run(const struct pp_cli_replay_arguments *arguments,
					       const struct pp_replay_model *model, uint32_t n_cpus,
					       uint32_t others, const bool *drops)
{
	g_autofree double *ns = g_new(double, arguments->n_runs);
	g_autofree double *cpus = g_new(double, arguments->n_runs);
	struct pp_cli_replay_outcome outcome = {0};

	for (uint32_t i = 0; i < arguments->n_runs; i++) {
		struct pp_simulation how = {n_cpus, others, arguments->fair, i, drops};
		struct pp_simulated simulated;

		pp_simulate(model, &how, &simulated);
		ns[i] = (double)simulated.ns;
		cpus[i] = (double)simulated.cpu_ns / (double)MAX(simulated.ns, 1);
		outcome.n_stuck = MAX(outcome.n_stuck, simulated.n_stuck);
		pp_simulated_done(&simulated);
	}
	outcome.ns = pp_spread_of(ns, arguments->n_runs);
	outcome.cpus = pp_spread_of(cpus, arguments->n_runs);
	return outcome;
}
