/* SPDX-License-Identifier: MIT */
/*
 * What the capture lacks or contradicts itself in.  Readers and passes put rows into the model's
 * list of problems while they work; this pass shows the list, so it runs last.
 */
#include "pass/pass.h"

enum { WHAT, COUNT, WHERE };

static const struct pp_column columns[] = {
    [WHAT] = {"what", "what", PP_TYPE_TEXT, 0, "what is missing or contradictory"},
    [COUNT] = {"count", "count", PP_TYPE_COUNT, 0, "how many; none where not known"},
    [WHERE] = {"where", "where", PP_TYPE_TEXT, 0, "the file or thread"},
};

struct quality {
	const struct pp_model *model;
};

static void *quality_start(const struct pp_pass_context *context)
{
	struct quality *self = g_new0(struct quality, 1);

	self->model = context->model;
	return self;
}

static void quality_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	const struct quality *self = state;
	struct pp_table *table =
	    pp_table_new("quality", "Data quality", columns, G_N_ELEMENTS(columns));

	(void)end_ns;
	for (guint i = 0; i < self->model->problems->len; i++) {
		const struct pp_problem *problem = self->model->problems->pdata[i];
		struct pp_cell *row = pp_table_add_row(table);

		pp_cell_set_text(&row[WHAT], problem->what);
		if (problem->count)
			pp_cell_set_count(&row[COUNT], problem->count);
		pp_cell_set_text(&row[WHERE], problem->where);
	}
	if (!table->rows->len)
		pp_table_note(table, "nothing lost, nothing contradictory");
	g_ptr_array_add(tables, table);
}

static const char *const needs[] = {"consistency", NULL};

const struct pp_pass pp_pass_quality = {
    .name = "quality",
    .needs = needs,
    .kinds = PP_EVENT_MASK(PP_EVENT_LOST),
    .start = quality_start,
    .finish = quality_finish,
    .free = g_free,
};
