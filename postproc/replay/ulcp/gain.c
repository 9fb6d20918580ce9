/* SPDX-License-Identifier: MIT */
/* Times come from the logs of simulations, by the steps of the results. */
#include "replay/ulcp/gain.h"

#include "analysis/ulcp/classify.h"

/* --- pairs ------------------------------------------------------------------------------------ */

GArray *pp_ulcp_find_pairs(const GArray *sections, const GArray *sets, const bool *keeps_order,
			   struct pp_ulcp_counts *ret)
{
	GArray *pairs = g_array_new(FALSE, FALSE, sizeof(struct pp_ulcp_pair));

	*ret = (struct pp_ulcp_counts){0};
	for (guint i = 1; i < sections->len; i++) {
		const struct pp_ulcp_section *a = pp_ulcp_section_at(sections, i - 1);
		const struct pp_ulcp_section *b = pp_ulcp_section_at(sections, i);
		const struct pp_access_set *x, *y;
		struct pp_ulcp_pair pair = {i - 1, i, 0};

		if (a->object != b->object || a->thread == b->thread || (a->shared && b->shared))
			continue;
		x = pp_replay_find_set(sets, a->thread, a->first);
		y = pp_replay_find_set(sets, b->thread, b->first);
		if (!x || !y || keeps_order[a->object]) {
			ret->n_unknown++;
		} else if (pp_ulcp_compare(x, y).contends) {
			ret->n_contending++;
		} else {
			ret->n_unnecessary++;
			g_array_append_val(pairs, pair);
		}
	}
	return pairs;
}

/* --- times ------------------------------------------------------------------------------------ */

static const struct pp_simulated_thread *log_of(const struct pp_ulcp_replay *of, uint32_t thread)
{
	return &of->log->threads[thread];
}

static int64_t done_ns(const struct pp_ulcp_replay *of, uint32_t thread, uint32_t step)
{
	return g_array_index(log_of(of, thread)->done_ns, int64_t, step);
}

/* When the thread came to the step: before it waited there. */
static int64_t arrival_ns(const struct pp_ulcp_replay *of, uint32_t thread, uint32_t step)
{
	const GArray *waits = log_of(of, thread)->waits;
	guint low = 0, high = waits->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(waits, struct pp_simulated_wait, middle).step < step)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < waits->len && g_array_index(waits, struct pp_simulated_wait, low).step == step)
		return g_array_index(waits, struct pp_simulated_wait, low).since_ns;
	return done_ns(of, thread, step);
}

static int64_t before_ns(const struct pp_ulcp_replay *of, const struct pp_ulcp_section *section)
{
	uint32_t step = pp_ulcp_first_step(of->result, section->thread, section->first);

	return step == 0 ? log_of(of, section->thread)->start_ns
			 : done_ns(of, section->thread, step - 1);
}

static int64_t behind_ns(const struct pp_ulcp_replay *of, const struct pp_ulcp_section *section)
{
	uint32_t n = log_of(of, section->thread)->done_ns->len;
	uint32_t step = pp_ulcp_first_step(of->result, section->thread, section->last + 1);

	return arrival_ns(of, section->thread, MIN(step, n - 1));
}

static int64_t span_ns(const struct pp_ulcp_replay *of, const struct pp_ulcp_section *first,
		       const struct pp_ulcp_section *second)
{
	return MAX(behind_ns(of, first), behind_ns(of, second)) - before_ns(of, first);
}

void pp_ulcp_add_gains(GArray *pairs, const GArray *sections, const struct pp_ulcp_replay *with,
		       const struct pp_ulcp_replay *without)
{
	for (guint i = 0; i < pairs->len; i++) {
		struct pp_ulcp_pair *pair = &g_array_index(pairs, struct pp_ulcp_pair, i);
		const struct pp_ulcp_section *first = pp_ulcp_section_at(sections, pair->first);
		const struct pp_ulcp_section *second = pp_ulcp_section_at(sections, pair->second);

		pair->gain_ns +=
		    (double)(span_ns(with, first, second) - span_ns(without, first, second));
	}
}
