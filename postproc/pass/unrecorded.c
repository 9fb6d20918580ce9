/* SPDX-License-Identifier: MIT */
#include "pass/unrecorded.h"

#include "core/event.h"

void pp_unrecorded_note(struct pp_table *table, const struct pp_model *model)
{
	g_autofree char *text = NULL;
	unsigned off = 0;

	for (guint i = 0; i < model->processes->len; i++)
		off |= ((const struct pp_process *)model->processes->pdata[i])->sync_types_off;
	text = pp_sync_types_text(off);
	if (text)
		pp_table_note(table, "not recorded: %s (sync.types)", text);
}
