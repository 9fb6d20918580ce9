/* SPDX-License-Identifier: MIT */
/* See costs.h. */
#include "pass/sydg/costs.h"

#include <string.h>

static const char *const metrics[][2] = {
    {"apwt_ns", "apwt_conditionals"},	{"cpwt_ns", "cpwt_conditionals"},
    {"mean_ns", "mean_conditionals"},	{"aplt_ns", "aplt_conditionals"},
    {"sigma_ns", "sigma_conditionals"}, {"least_ns", "least_conditionals"},
    {"most_ns", "most_conditionals"},
};

void pp_cost_counted(struct pp_column *to, const struct pp_column *from, unsigned n)
{
	memcpy(to, from, n * sizeof(*from));
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < G_N_ELEMENTS(metrics); j++)
			if (strcmp(from[i].key, metrics[j][0]) == 0) {
				to[i].key = metrics[j][1];
				to[i].type = PP_TYPE_COUNT;
			}
}

void pp_cost_set(struct pp_cell *cell, bool is_counted, int64_t cost)
{
	if (is_counted)
		pp_cell_set_count(cell, (uint64_t)MAX(cost, 0));
	else
		pp_cell_set_time(cell, cost);
}
