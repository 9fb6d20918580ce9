/* SPDX-License-Identifier: MIT */
/* See contention_table.h. */
#include "cli/campaign/contention_table.h"

#include "cli/campaign/cells.h"
#include "cli/campaign/engine.h"

enum {
	POINT,
	THREADS = POINT + PP_N_POINT_CELLS,
	COUNTS,
	SHARE = COUNTS + PP_CONTENTION_N,
	LOST,
	LOST_ERROR,
	LOST_FREE,
	LOST_FREE_ERROR,
	N_COLUMNS
};

static const struct pp_column columns[N_COLUMNS] = {
    PP_CAMPAIGN_POINT_COLUMNS(POINT),
    [THREADS] = {"threads", "threads", PP_TYPE_COUNT, PP_COLUMN_NO_SUM, "as in steps"},
    [COUNTS + PP_CONTENTION_SECTIONS] = {"sections", "sections", PP_TYPE_COUNT, PP_COLUMN_MORE,
					 "critical sections that were executed"},
    [COUNTS + PP_CONTENTION_PAIRS] = {"consecutive", "pairs", PP_TYPE_COUNT, 0,
				      "consecutive sections of a lock, in different threads"},
    [COUNTS + PP_CONTENTION_NULL_LOCK] = {"null_lock", "null-lock", PP_TYPE_COUNT, 0,
					  "... of which one accesses no shared memory"},
    [COUNTS + PP_CONTENTION_READ_READ] = {"read_read", "read-read", PP_TYPE_COUNT, 0,
					  "... that only read shared memory"},
    [COUNTS + PP_CONTENTION_DISJOINT] = {"disjoint_write", "disjoint", PP_TYPE_COUNT, 0,
					 "... that write shared memory, and do not conflict"},
    [COUNTS + PP_CONTENTION_BENIGN] = {"benign", "benign", PP_TYPE_COUNT, 0,
				       "... that conflict, by writes that change nothing"},
    [COUNTS + PP_CONTENTION_TRUE] = {"true", "true", PP_TYPE_COUNT, 0, "necessary contention"},
    [COUNTS + PP_CONTENTION_UNDECIDED] = {"undecided", "undecided", PP_TYPE_COUNT, 0, "all others"},
    [COUNTS +
	PP_CONTENTION_UNNECESSARY] = {"unnecessary", "unnecessary", PP_TYPE_COUNT, PP_COLUMN_MORE,
				      "null-lock, read-read, disjoint-write and benign pairs"},
    [SHARE] = {"unnecessary_pct", "share", PP_TYPE_PERCENT, PP_COLUMN_STAYS,
	       "the share of unnecessary pairs"},
    [LOST] = {"t_pd_pct", "T_pd%", PP_TYPE_PERCENT, PP_COLUMN_STAYS,
	      "run time lost to them, if sections that contend keep their order"},
    [LOST_ERROR] = {"t_pd_error_pct", "+/-%", PP_TYPE_PERCENT, 0,
		    "half of the 95 % confidence interval of T_pd%"},
    [LOST_FREE] = {"t_pd_free_pct", "free%", PP_TYPE_PERCENT, 0,
		   "T_pd% if they can have any order"},
    [LOST_FREE_ERROR] = {"t_pd_free_error_pct", "+/-%", PP_TYPE_PERCENT, PP_COLUMN_MORE,
			 "the same as above, of free%"},
};

static void set_lost(struct pp_cell *row, const struct pp_contention *contention)
{
	pp_cell_set_number(&row[LOST], contention->lost_pct[PP_CLI_ULCP_RECORDED]);
	pp_cell_set_number(&row[LOST_ERROR], contention->error_pct[PP_CLI_ULCP_RECORDED]);
	pp_cell_set_number(&row[LOST_FREE], contention->lost_pct[PP_CLI_ULCP_FREE]);
	pp_cell_set_number(&row[LOST_FREE_ERROR], contention->error_pct[PP_CLI_ULCP_FREE]);
}

static void add_row(struct pp_table *table, struct pp_campaign *campaign,
		    const struct pp_test *test, const struct pp_step *step)
{
	const struct pp_facts *facts = pp_campaign_facts(campaign, test, &step->point);
	const struct pp_contention *contention = facts ? &facts->contention : NULL;
	uint64_t n_pairs;
	struct pp_cell *row;

	if (!contention || !contention->has_counts)
		return;
	row = pp_table_add_row(table);
	pp_campaign_set_point(&row[POINT], test->name, &step->point);
	pp_campaign_set_value(&row[THREADS], step->n_threads);
	for (unsigned i = 0; i < PP_CONTENTION_N; i++)
		pp_cell_set_count(&row[COUNTS + i], contention->counts[i]);
	n_pairs = contention->counts[PP_CONTENTION_PAIRS];
	if (n_pairs)
		pp_cell_set_number(&row[SHARE],
				   100 * (double)contention->counts[PP_CONTENTION_UNNECESSARY] /
				       (double)n_pairs);
	if (contention->has_lost)
		set_lost(row, contention);
	else
		pp_table_note(table, "%s: no T_pd%% in row %u: %s", test->name, table->rows->len,
			      contention->why_not);
}

/* True if it is a step of one of the workloads, which has a row already. */
static bool is_of_workload(const struct pp_tested *tested, const struct pp_step *step)
{
	for (guint i = 0; i < tested->steps->len; i++) {
		const struct pp_step *other = tested->steps->pdata[i];

		if (pp_point_equal(&other->point, &step->point))
			return true;
	}
	return false;
}

static void add_rows(struct pp_table *table, struct pp_campaign *campaign,
		     const struct pp_tested *tested, const GPtrArray *steps)
{
	for (guint i = 0; i < steps->len; i++)
		if (steps == tested->steps || !is_of_workload(tested, steps->pdata[i]))
			add_row(table, campaign, tested->test, steps->pdata[i]);
}

struct pp_table *pp_campaign_table_contention(struct pp_campaign *campaign)
{
	struct pp_table *table =
	    pp_table_new("contention", "Unnecessary lock contention", columns, N_COLUMNS);

	table->is_in_order = true;
	for (guint t = 0; t < campaign->tested->len; t++) {
		const struct pp_tested *tested = campaign->tested->pdata[t];

		add_rows(table, campaign, tested, tested->steps);
		for (unsigned kind = 0; kind < PP_N_SERIES; kind++)
			add_rows(table, campaign, tested, tested->series[kind]);
	}
	if (table->rows->len)
		pp_table_note(table, "recording accesses distorts the times of which T_pd%% is: "
				     "`gprof-mt predict ulcp` takes two captures");
	return table;
}
