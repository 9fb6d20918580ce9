/* SPDX-License-Identifier: MIT */
#include "pass/unrecorded.h"

#include "core/event.h"

void pp_unrecorded_note(struct pp_table *table, const struct pp_model *model)
{
	g_autofree char *text = NULL;
	unsigned off = 0;
	bool chosen = false, unsorted = false;

	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];

		off |= process->sync_types_off;
		chosen |= process->sync_objects_chosen;
		unsorted |= process->sync_objects_unsorted;
	}
	text = pp_sync_types_text(off);
	if (text)
		pp_table_note(table, "not recorded: %s (sync.types)", text);
	if (chosen)
		pp_table_note(table, "not recorded: objects of some modules (sync.include, "
				     "sync.exclude)");
	if (unsorted)
		pp_table_note(table, "too many objects for sync.include and sync.exclude: those "
				     "that were new from then on are all recorded");
}
