/* SPDX-License-Identifier: MIT */
/* See cells.h. */
#include "cli/campaign/cells.h"

#include "cli/campaign/engine.h"

void pp_campaign_set_value(struct pp_cell *cell, int64_t value)
{
	if (value)
		pp_cell_set_count(cell, (uint64_t)value);
}

void pp_campaign_set_point(struct pp_cell *cells, const char *test, const struct pp_point *point)
{
	pp_cell_set_text(&cells[PP_POINT_TEST], test);
	pp_campaign_set_value(&cells[PP_POINT_WORKLOAD], point->workload);
	pp_cell_set_count(&cells[PP_POINT_CPUS], pp_point_cpus(point));
}

const struct pp_column pp_campaign_sections[PP_CAMPAIGN_N_SECTION_COLUMNS] = {
    {"lock", "lock", PP_TYPE_TEXT, PP_COLUMN_KEY, "its lock"},
    {"entry", "entered at", PP_TYPE_TEXT, PP_COLUMN_KEY, "the call site that obtained it"},
    {"exit", "left at", PP_TYPE_TEXT, PP_COLUMN_KEY, "the call site that released it"},
    {"share_pct", "share", PP_TYPE_PERCENT, PP_COLUMN_MAIN,
     "waits for the section, as a share of all threads' lifetimes"},
};

static struct pp_table *make_sections(const struct pp_facts *facts)
{
	static const struct pp_column columns[PP_N_TIME_CELLS] = {PP_CAMPAIGN_TIME_COLUMNS(0)};
	struct pp_table *table = pp_table_new_nested(&columns[PP_TIME_SECTIONS]);

	for (guint i = 0; i < facts->sections->len; i++) {
		const struct pp_facts_section *section = facts->sections->pdata[i];
		struct pp_cell *cells = pp_table_add_row(table);

		pp_cell_set_text(&cells[0], section->lock);
		pp_cell_set_text(&cells[1], section->entry);
		pp_cell_set_text(&cells[2], section->exit);
		pp_cell_set_number(&cells[3], section->share_pct);
	}
	return table;
}

static void set_share(struct pp_cell *cell, double part_ns, double all_ns)
{
	if (part_ns >= 0 && all_ns > 0)
		pp_cell_set_number(cell, 100 * part_ns / all_ns);
}

void pp_campaign_set_time(struct pp_campaign *campaign, const struct pp_test *test,
			  const struct pp_step *step, struct pp_table *table, struct pp_cell *cells)
{
	const struct pp_facts *facts = pp_campaign_facts(campaign, test, &step->point);
	const struct pp_time_use *time;

	if (!facts)
		return;
	if (facts->error) {
		pp_table_note(table, "%s: no shares: %s", test->name, facts->error);
		return;
	}
	time = &facts->time;
	set_share(&cells[PP_TIME_RUNNING], time->running_ns, time->lifetime_ns);
	set_share(&cells[PP_TIME_RUNNABLE], time->runnable_ns, time->lifetime_ns);
	set_share(&cells[PP_TIME_SYNC], time->blocked_sync_ns, time->lifetime_ns);
	set_share(&cells[PP_TIME_OTHER], time->blocked_other_ns, time->lifetime_ns);
	pp_cell_set_text(&cells[PP_TIME_BY], facts->blocked_by);
	pp_cell_set_table(&cells[PP_TIME_SECTIONS], make_sections(facts));
}
