/* SPDX-License-Identifier: MIT */
/* Each kind of gap has a row, also if there is none. */
#include "cli/replay/check.h"

enum { GAP, COUNT, TIME, EFFECT };

static const struct pp_column columns[] = {
    [GAP] = {"gap", "missing", PP_TYPE_TEXT, PP_COLUMN_KEY, "what is missing"},
    [COUNT] = {"count", "count", PP_TYPE_COUNT, PP_COLUMN_MAIN, "how often"},
    [TIME] = {"time_ns", "time", PP_TYPE_TIME_NS, 0, "its part of the threads' time"},
    [EFFECT] = {"effect", "effect", PP_TYPE_TEXT, 0, "what the replay does about it"},
};

static struct pp_cell *add_row(struct pp_table *table, const char *gap, uint64_t count,
			       const char *effect)
{
	struct pp_cell *row = pp_table_add_row(table);

	pp_cell_set_text(&row[GAP], gap);
	pp_cell_set_count(&row[COUNT], count);
	if (count)
		pp_cell_set_text(&row[EFFECT], effect);
	return row;
}

struct pp_table *pp_cli_replay_check(const struct pp_cli_replay_arguments *arguments,
				     const struct pp_cli_replay_source *source, bool *ret_good)
{
	const struct pp_replay_gaps *gaps = &source->gaps;
	bool is_refused = (gaps->lost_events || gaps->only_counted) && !arguments->allow_gaps;
	uint32_t n_stuck = source->same.n_stuck;
	struct pp_cell *row;
	struct pp_table *table =
	    pp_table_new("check", "Gaps of the model", columns, G_N_ELEMENTS(columns));
	add_row(table, "synch-events that were lost", gaps->lost_events, "needs --allow-gaps");
	add_row(table, "threads of which only waits are recorded", gaps->only_counted,
		"needs --allow-gaps, or record with --set sync.mode=all");
	row = add_row(table, "waits of which nothing tells the end", gaps->unknown_waits,
		      "a sleep of the same length");
	pp_cell_set_time(&row[TIME], gaps->filled_ns);
	add_row(table, "threads without a known creator", gaps->late_threads,
		"begin when they did in the recorded run");
	add_row(table, "threads that wait for ever in a replay", n_stuck, "no run times");
	*ret_good = !is_refused && !n_stuck;
	pp_table_note(table, "the run can%s be replayed", *ret_good ? "" : "not");
	return table;
}
