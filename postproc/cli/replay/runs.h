/* SPDX-License-Identifier: MIT */
/* Several replays of a model, and their mean. */
#ifndef PP_CLI_REPLAY_RUNS_H
#define PP_CLI_REPLAY_RUNS_H

#include "cli/replay/arguments.h"
#include "core/error.h"
#include "replay/model.h"
#include "statistics/spread.h"

struct pp_cli_replay_outcome {
	struct pp_spread ns, cpus; /* run time; CPUs used, on average */
	uint32_t n_stuck;	   /* threads that wait for ever in one of the replays, at most */
	double others; /* CPUs that other programs used meanwhile, if the engine tells */
	char *stuck;   /* for what some of them wait, if the engine tells; NULL */
};

/*
 * Replays the model `arguments->n_runs` times.  others: threads of other programs, in thousandths;
 * a skeleton runs beside the other programs that there are.  Returns 0 or -errno; the caller calls
 * pp_cli_replay_outcome_done() in both cases.
 */
int pp_cli_replay_run(const struct pp_cli_replay_arguments *arguments,
		      const struct pp_replay_model *model, uint32_t n_cpus, uint32_t others,
		      struct pp_cli_replay_outcome *ret, struct pp_error *err);
void pp_cli_replay_outcome_done(struct pp_cli_replay_outcome *outcome);

/* A change's effect on the run time, in percent of the run time before: below 0, it is faster. */
struct pp_cli_replay_effect {
	double pct;
	double error_pct; /* half of the 95 % confidence interval */
};

struct pp_cli_replay_effect pp_cli_replay_effect(const struct pp_cli_replay_outcome *before,
						 const struct pp_cli_replay_outcome *after);

#endif
