/* SPDX-License-Identifier: MIT */
/* A prediction is the difference of two replays of one model (cli/replay/runs.h). */
#include "cli/suggest/gain.h"

#include <math.h>

#include "cli/replay/runs.h"

/* Replays of the recorded run: beside the other programs of the machine, and without them. */
struct baseline {
	const struct pp_suggest_run *run;
	struct pp_cli_replay_outcome same, alone;
	bool is_done;
};

/* Sums over the runs with which a suggestion was replayed. */
struct sums {
	GArray *changes; /* of double: percent, by run */
	double error_pct, fidelity_pct;
	bool by_accesses;
	char *why; /* of the first run without a result */
};

bool pp_suggest_gain_is_slowed(const struct pp_suggest_runs *runs)
{
	return runs->facts.n_runs == runs->all->len;
}

/* Returns 0 or -errno. */
static int replay_before(struct baseline *baseline, struct pp_error *err)
{
	const struct pp_replay_model *model = baseline->run->source.model;
	int rc;

	if (baseline->is_done)
		return 0;
	baseline->is_done = true;
	rc = pp_cli_replay_run(&baseline->run->arguments, model, model->n_cpus, model->others,
			       &baseline->same, err);
	if (rc == 0)
		rc = pp_cli_replay_run(&baseline->run->arguments, model, model->n_cpus, 0,
				       &baseline->alone, err);
	return rc;
}

static void set_why(struct sums *sums, const char *why)
{
	if (!sums->why)
		sums->why = g_strdup(why);
}

static void add_effect(struct sums *sums, const struct baseline *baseline,
		       const struct pp_cli_replay_outcome *after)
{
	struct pp_cli_replay_effect effect = pp_cli_replay_effect(&baseline->alone, after);
	double recorded = (double)baseline->run->source.model->recorded_ns;

	if (baseline->alone.n_stuck || after->n_stuck) {
		set_why(sums, "threads wait for ever in the replay");
		return;
	}
	g_array_append_val(sums->changes, effect.pct);
	sums->by_accesses |= baseline->run->has_accesses;
	sums->error_pct = MAX(sums->error_pct, effect.error_pct);
	if (recorded > 0)
		sums->fidelity_pct =
		    MAX(sums->fidelity_pct, 100 * fabs(baseline->same.ns.mean / recorded - 1));
}

/* Returns 0 or -errno: a suggestion cannot be made a change of this run. */
static int apply(const GPtrArray *suggestions, const struct pp_suggest_run *run,
		 struct pp_replay_model *model, struct pp_error *err)
{
	int rc = 0;

	for (guint i = 0; i < suggestions->len && rc == 0; i++) {
		g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
		struct pp_change *change =
		    pp_suggest_change(suggestions->pdata[i], run->has_accesses);

		rc = pp_change_apply(change, model, notes, err);
		pp_change_free(change);
	}
	return rc;
}

/* Replays a run with all of the suggestions.  Returns 0 or -errno. */
static int replay_after(const GPtrArray *suggestions, struct baseline *baseline, struct sums *sums,
			struct pp_error *err)
{
	struct pp_replay_model *changed = pp_replay_model_copy(baseline->run->source.model);
	struct pp_cli_replay_outcome after = {0};
	struct pp_error why = PP_ERROR_INIT;
	int rc = 0;

	if (apply(suggestions, baseline->run, changed, &why)) {
		g_autofree char *text = pp_error_text(&why);

		set_why(sums, text);
	} else {
		rc = pp_cli_replay_run(&baseline->run->arguments, changed, changed->n_cpus, 0,
				       &after, err);
		if (rc == 0)
			add_effect(sums, baseline, &after);
		pp_cli_replay_outcome_done(&after);
	}
	pp_error_done(&why);
	pp_replay_model_free(changed);
	return rc;
}

static void set_gain(struct pp_suggest_gain *gain, struct sums *sums)
{
	struct pp_spread spread =
	    pp_spread_of((const double *)(void *)sums->changes->data, sums->changes->len);

	gain->is_known = spread.n > 0;
	if (!gain->is_known) {
		gain->why = g_steal_pointer(&sums->why);
		return;
	}
	gain->change_pct = spread.mean;
	gain->error_pct = sums->error_pct;
	gain->fidelity_pct = sums->fidelity_pct;
	gain->by_accesses = sums->by_accesses;
	if (spread.n > 1)
		gain->error_pct = MAX(sums->error_pct, spread.sigma / sqrt((double)spread.n) *
							   pp_student_975((double)(spread.n - 1)));
}

static int gain_of(const struct pp_suggest_runs *runs, const GPtrArray *suggestions,
		   struct pp_suggest_gain *gain, struct baseline *baselines, struct pp_error *err)
{
	struct sums sums = {.changes = g_array_new(FALSE, FALSE, sizeof(double))};
	int rc = 0;

	for (guint i = 0; i < runs->all->len && rc == 0; i++) {
		if (baselines[i].run->has_accesses && !pp_suggest_gain_is_slowed(runs))
			continue;
		rc = replay_before(&baselines[i], err);
		if (rc == 0)
			rc = replay_after(suggestions, &baselines[i], &sums, err);
	}
	if (rc == 0)
		set_gain(gain, &sums);
	g_array_unref(sums.changes);
	g_free(sums.why);
	return rc;
}

static struct baseline *baselines_new(const struct pp_suggest_runs *runs)
{
	struct baseline *baselines = g_new0(struct baseline, runs->all->len);

	for (guint i = 0; i < runs->all->len; i++)
		baselines[i].run = runs->all->pdata[i];
	return baselines;
}

static void baselines_free(const struct pp_suggest_runs *runs, struct baseline *baselines)
{
	for (guint i = 0; i < runs->all->len; i++) {
		pp_cli_replay_outcome_done(&baselines[i].same);
		pp_cli_replay_outcome_done(&baselines[i].alone);
	}
	g_free(baselines);
}

int pp_suggest_gains(const struct pp_suggest_runs *runs, const GPtrArray *suggestions,
		     struct pp_error *err)
{
	struct baseline *baselines = baselines_new(runs);
	int rc = 0;

	for (guint i = 0; i < suggestions->len && rc == 0; i++) {
		g_autoptr(GPtrArray) one = g_ptr_array_new();
		struct pp_suggestion *suggestion = suggestions->pdata[i];

		g_ptr_array_add(one, suggestion);
		rc = gain_of(runs, one, &suggestion->gain, baselines, err);
	}
	baselines_free(runs, baselines);
	return rc;
}

int pp_suggest_gain_together(const struct pp_suggest_runs *runs, const GPtrArray *suggestions,
			     struct pp_suggest_gain *ret, struct pp_error *err)
{
	struct baseline *baselines = baselines_new(runs);
	int rc = gain_of(runs, suggestions, ret, baselines, err);

	baselines_free(runs, baselines);
	return rc;
}
