/* SPDX-License-Identifier: MIT */
/* See cells.h. */
#include "cli/campaign/cells.h"

#include "cli/campaign/engine.h"

void pp_campaign_set_value(struct pp_cell *cell, int64_t value)
{
	if (value)
		pp_cell_set_count(cell, (uint64_t)value);
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
}
