/* SPDX-License-Identifier: MIT */
/* Cells that several tables of a campaign have. */
#ifndef PP_CLI_CAMPAIGN_CELLS_H
#define PP_CLI_CAMPAIGN_CELLS_H

#include "cli/campaign/campaign.h"
#include "table/table.h"

/*
 * Fills the cells that tell where the time goes, from `running` on, and notes in `table` why they
 * are missing.
 */
enum {
	PP_TIME_RUNNING,
	PP_TIME_RUNNABLE,
	PP_TIME_SYNC,
	PP_TIME_OTHER,
	PP_TIME_BY,
	PP_TIME_SECTIONS,
	PP_N_TIME_CELLS
};

#define PP_CAMPAIGN_N_SECTION_COLUMNS 4

extern const struct pp_column pp_campaign_sections[PP_CAMPAIGN_N_SECTION_COLUMNS];

#define PP_CAMPAIGN_TIME_COLUMNS(first)                                                            \
	[(first) + PP_TIME_RUNNING] = {"running_pct", "running", PP_TYPE_PERCENT, 0,               \
				       "share of all threads' lifetimes on a CPU, in one run"},    \
		   [(first) + PP_TIME_RUNNABLE] = {"runnable_pct", "runnable", PP_TYPE_PERCENT, 0, \
						   "the same: waiting for a CPU"},                 \
		   [(first) + PP_TIME_SYNC] = {"blocked_sync_pct", "sync", PP_TYPE_PERCENT, 0,     \
					       "the same: blocked on a synchronization object, "   \
					       "joins and idle waits included"},                   \
		   [(first) + PP_TIME_OTHER] = {"blocked_other_pct", "other", PP_TYPE_PERCENT, 0,  \
						"the same: blocked on I/O, in sleep(), ..."},      \
		   [(first) +                                                                      \
		       PP_TIME_BY] = {"blocked_by", "waits for", PP_TYPE_TEXT,                     \
				      PP_COLUMN_PATH | PP_COLUMN_DETAIL,                           \
				      "the critical sections waited for most, with their shares"}, \
		   [(first) + PP_TIME_SECTIONS] = {"sections",                                     \
						   "sections",                                     \
						   PP_TYPE_TABLE,                                  \
						   0,                                              \
						   "the same as rows",                             \
						   pp_campaign_sections,                           \
						   PP_CAMPAIGN_N_SECTION_COLUMNS}

void pp_campaign_set_time(struct pp_campaign *campaign, const struct pp_test *test,
			  const struct pp_step *step, struct pp_table *table,
			  struct pp_cell *cells);

/* The cells that name a step: its test, workload and CPUs. */
enum { PP_POINT_TEST, PP_POINT_WORKLOAD, PP_POINT_CPUS, PP_N_POINT_CELLS };

#define PP_CAMPAIGN_POINT_COLUMNS(first)                                                           \
	[(first) + PP_POINT_TEST] = {"test", "test", PP_TYPE_TEXT, PP_COLUMN_KEY, "its name"},     \
		   [(first) + PP_POINT_WORKLOAD] = {"workload", "workload", PP_TYPE_COUNT,         \
						    PP_COLUMN_KEY | PP_COLUMN_NO_SUM,              \
						    "the number for {w}"},                         \
		   [(first) + PP_POINT_CPUS] = {"cpus", "CPUs", PP_TYPE_COUNT, PP_COLUMN_NO_SUM,   \
						"the number it could use"}

void pp_campaign_set_point(struct pp_cell *cells, const char *test, const struct pp_point *point);

/* Sets a cell to a number of the point; 0 is missing. */
void pp_campaign_set_value(struct pp_cell *cell, int64_t value);

#endif
