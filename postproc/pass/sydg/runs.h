/* SPDX-License-Identifier: MIT */
/*
 * The critical sections of several runs of one program (paper 000, section 3.2.4): of each, the
 * mean and the standard deviation of its metrics over all runs.
 */
#ifndef PP_PASS_SYDG_RUNS_H
#define PP_PASS_SYDG_RUNS_H

#include <stdbool.h>

#include "table/table.h"

/* The order matches the columns of table `bottlenecks`. */
enum pp_bottleneck_metric {
	PP_BY_APWT,
	PP_BY_CPWT,
	PP_BY_APLT,
	PP_BY_MEAN,
	PP_N_BOTTLENECK_METRICS
};

/* "apwt", ...; the column of table `bottlenecks` is this and "_ns". */
extern const char *const pp_bottleneck_metrics[PP_N_BOTTLENECK_METRICS];

struct pp_bottleneck_runs;

/* is_counted: the metrics are numbers of conditionals (`--clock conditionals`). */
struct pp_bottleneck_runs *pp_bottleneck_runs_new(bool is_counted);
void pp_bottleneck_runs_free(struct pp_bottleneck_runs *runs);

/* Adds a run: its table `bottlenecks`.  dir: its capture. */
void pp_bottleneck_runs_add(struct pp_bottleneck_runs *runs, const char *dir,
			    const struct pp_table *table);

/* There are two runs at least, and no section's metric is inconclusive (below). */
bool pp_bottleneck_runs_are_conclusive(const struct pp_bottleneck_runs *runs,
				       enum pp_bottleneck_metric metric);

/*
 * Adds two tables to the array, which owns them: sections whose metric is conclusive, with a
 * standard deviation below 1 % of its mean, and the others.  A section has 0 in a run in which it
 * has no row; sections with 0 in all runs are left out.  Standard deviations are those of samples,
 * and missing for a single run.
 */
void pp_bottleneck_runs_tables(const struct pp_bottleneck_runs *runs,
			       enum pp_bottleneck_metric metric, GPtrArray *tables);

/*
 * A table, for programs only, with all metrics of each section, and their values in each run: by
 * the first metric, then those for which only other metrics are not 0.  The caller frees it.
 */
struct pp_table *pp_bottleneck_runs_sections(const struct pp_bottleneck_runs *runs,
					     enum pp_bottleneck_metric first);

#endif
