/* SPDX-License-Identifier: MIT */
/* A change that does not shorten the run by more than its error is no suggestion. */
#include "suggest/rank.h"

#include <stdlib.h>

static bool is_worth_it(const struct pp_suggest_gain *gain)
{
	return !gain->is_known ||
	       (gain->change_pct < -PP_SUGGEST_LEAST_PCT && gain->change_pct < -gain->error_pct);
}

static int compare(const void *x, const void *y)
{
	const struct pp_suggest_gain *a = &(*(const struct pp_suggestion *const *)x)->gain;
	const struct pp_suggest_gain *b = &(*(const struct pp_suggestion *const *)y)->gain;

	if (a->is_known != b->is_known)
		return a->is_known ? -1 : 1;
	return (a->change_pct > b->change_pct) - (a->change_pct < b->change_pct);
}

GPtrArray *pp_suggest_rank(const GPtrArray *all, unsigned *ret_n_idle)
{
	GPtrArray *ranked = g_ptr_array_new();

	*ret_n_idle = 0;
	for (guint i = 0; i < all->len; i++) {
		struct pp_suggestion *suggestion = all->pdata[i];

		if (is_worth_it(&suggestion->gain))
			g_ptr_array_add(ranked, suggestion);
		else
			++*ret_n_idle;
	}
	if (ranked->len)
		qsort(ranked->pdata, ranked->len, sizeof(*ranked->pdata), compare);
	return ranked;
}
