/* SPDX-License-Identifier: MIT */
/* See times.h. */
#include "cli/suggest/times.h"

static bool has_kind(const struct pp_suggest_runs *runs, bool with_accesses)
{
	for (guint i = 0; i < runs->all->len; i++) {
		const struct pp_suggest_run *run = runs->all->pdata[i];

		if (run->has_accesses == with_accesses)
			return true;
	}
	return false;
}

const char *pp_suggest_times_kind(const struct pp_suggest_runs *before,
				  const struct pp_suggest_runs *after, bool *ret_with_accesses)
{
	*ret_with_accesses = !has_kind(before, false) || !has_kind(after, false);
	if (has_kind(before, *ret_with_accesses) && has_kind(after, *ret_with_accesses))
		return NULL;
	return "captures of one program have accesses, and those of the other one have none: "
	       "record both without";
}

/* Returns false if a capture has no run time. */
static bool spread_of(const struct pp_suggest_runs *runs, bool with_accesses, struct pp_spread *ret)
{
	g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(double));

	for (guint i = 0; i < runs->all->len; i++) {
		const struct pp_suggest_run *run = runs->all->pdata[i];
		double ns = (double)run->source.model->recorded_ns;

		if (run->has_accesses != with_accesses)
			continue;
		if (ns <= 0)
			return false;
		g_array_append_val(times, ns);
	}
	*ret = pp_spread_of((const double *)(void *)times->data, times->len);
	return true;
}

const char *pp_suggest_times_recorded(const struct pp_suggest_runs *before,
				      const struct pp_suggest_runs *after,
				      struct pp_cli_replay_real *ret)
{
	bool with_accesses;
	const char *why = pp_suggest_times_kind(before, after, &with_accesses);

	if (why)
		return why;
	return spread_of(before, with_accesses, &ret->before.ns) &&
		       spread_of(after, with_accesses, &ret->after.ns)
		   ? NULL
		   : "no run time is recorded";
}

double pp_suggest_times_others(const struct pp_suggest_runs *runs, bool with_accesses)
{
	double sum = 0, n = 0;

	for (guint i = 0; i < runs->all->len; i++) {
		const struct pp_suggest_run *run = runs->all->pdata[i];

		if (run->has_accesses != with_accesses)
			continue;
		sum += run->source.model->others;
		n++;
	}
	return n > 0 ? sum / n / 1000 : 0;
}

const struct pp_suggest_run *pp_suggest_times_first(const struct pp_suggest_runs *runs)
{
	for (guint i = 0; i < runs->all->len; i++)
		if (!((const struct pp_suggest_run *)runs->all->pdata[i])->has_accesses)
			return runs->all->pdata[i];
	return runs->all->pdata[0];
}
