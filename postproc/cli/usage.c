/* SPDX-License-Identifier: MIT */
/* See usage.h. */
#include "cli/usage.h"

void pp_cli_set_usage(struct pp_cell *cells, const struct pp_measured *measured, int64_t n_threads,
		      unsigned n_cpus)
{
	double use = pp_measured_use(measured, n_threads, n_cpus);

	if (use >= 0)
		pp_cell_set_number(&cells[PP_USAGE_USE], 100 * use);
	pp_cell_set_time(&cells[PP_USAGE_USER], measured->user_ns);
	pp_cell_set_time(&cells[PP_USAGE_SYSTEM], measured->system_ns);
	pp_cell_set_count(&cells[PP_USAGE_RSS], (uint64_t)MAX(measured->max_rss_bytes, 0));
	pp_cell_set_count(&cells[PP_USAGE_VOLUNTARY], (uint64_t)MAX(measured->voluntary, 0));
	pp_cell_set_count(&cells[PP_USAGE_INVOLUNTARY], (uint64_t)MAX(measured->involuntary, 0));
}
