/* SPDX-License-Identifier: MIT */
/* Cells for the resources that a run used. */
#ifndef PP_CLI_USAGE_H
#define PP_CLI_USAGE_H

#include "campaign/measure.h"
#include "table/table.h"

enum {
	PP_USAGE_USE,
	PP_USAGE_USER,
	PP_USAGE_SYSTEM,
	PP_USAGE_RSS,
	PP_USAGE_VOLUNTARY,
	PP_USAGE_INVOLUNTARY,
	PP_N_USAGE_CELLS
};

#define PP_CLI_USAGE_COLUMNS(first)                                                                \
	[(first) + PP_USAGE_USE] = {"cpu_use_pct", "CPU use", PP_TYPE_PERCENT,                     \
				    PP_COLUMN_JSON_ONLY,                                           \
				    "CPU time / (run time * the lesser of threads and CPUs)"},     \
		   [(first) + PP_USAGE_USER] = {"user_ns", "user", PP_TYPE_TIME_NS,                \
						PP_COLUMN_JSON_ONLY, "CPU time in user mode"},     \
		   [(first) + PP_USAGE_SYSTEM] = {"system_ns", "system", PP_TYPE_TIME_NS,          \
						  PP_COLUMN_JSON_ONLY, "CPU time in the kernel"},  \
		   [(first) + PP_USAGE_RSS] = {"max_rss_bytes", "memory", PP_TYPE_COUNT,           \
					       PP_COLUMN_JSON_ONLY | PP_COLUMN_MAX,                \
					       "of its largest process"},                          \
		   [(first) + PP_USAGE_VOLUNTARY] = {"voluntary", "voluntary", PP_TYPE_COUNT,      \
						     PP_COLUMN_JSON_ONLY,                          \
						     "context switches of threads that waited"},   \
		   [(first) + PP_USAGE_INVOLUNTARY] = {"involuntary", "involuntary",               \
						       PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,         \
						       "context switches of preempted threads"}

/* Fills the cells from CPU use on; 0 threads or CPUs: not known. */
void pp_cli_set_usage(struct pp_cell *cells, const struct pp_measured *measured, int64_t n_threads,
		      unsigned n_cpus);

#endif
