/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks of the samples: CPU time by thread and function; each sample has a single function.
 */
#include <errno.h>
#include <inttypes.h>

#include "export/stacks/samples.h"
#include "export/stacks/speedscope.h"
#include "export/stacks/stacks.h"
#include "analysis/select.h"

static const char *const needs[] = {"flat", NULL};

static void *samples_start(const struct pp_export *export)
{
	return (void *)export;
}

static const struct pp_thread *thread_of(const struct pp_model *model, const struct pp_table *flat,
					 unsigned row)
{
	uint64_t pid = pp_table_cell(flat, row, "pid")->count;
	uint64_t image = pp_table_cell(flat, row, "image")->count;
	uint64_t index = pp_table_cell(flat, row, "index")->count;

	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_thread *thread = model->threads->pdata[i];

		if (thread->index == index && thread->process->pid == pid &&
		    thread->process->image == image)
			return thread;
	}
	return NULL;
}

static void take_row(const struct pp_export *export, const struct pp_table *flat, unsigned row,
		     pp_samples_take *take, void *data)
{
	const struct pp_cell *samples = pp_table_cell(flat, row, "samples");
	const struct pp_cell *period = pp_table_cell(flat, row, "sample_period_ns");
	const struct pp_thread *thread = thread_of(export->context->model, flat, row);

	if (samples && samples->count && period && thread)
		take(data, thread, pp_table_cell(flat, row, "name")->text,
		     samples->count * (uint64_t)period->time_ns);
}

const struct pp_table *pp_samples_each(const struct pp_export *export, pp_samples_take *take,
				       void *data)
{
	unsigned n_tables = 0;
	struct pp_table **tables = pp_pass_set_tables(export->passes, "flat", &n_tables);

	for (guint i = 0; i < tables[0]->rows->len; i++)
		take_row(export, tables[0], i, take, data);
	return tables[0];
}

struct folded_samples {
	const struct pp_export *export;
	struct pp_stacks *stacks;
};

static void add_row(void *data, const struct pp_thread *thread, const char *function, uint64_t ns)
{
	const struct folded_samples *self = data;
	struct pp_stack *stack = pp_stacks_thread(self->stacks, thread, self->export->no_threads);

	pp_stack_child(self->stacks, stack, function)->value += ns;
}

static int samples_finish(void *state, int64_t end_ns, struct pp_error *err)
{
	const struct pp_export *export = state;
	struct folded_samples self = {export, pp_stacks_new(0)};
	const struct pp_table *flat = pp_samples_each(export, add_row, &self);
	int ret = 0;

	(void)end_ns;
	for (guint i = 0; i < flat->notes->len; i++)
		pp_export_note(export, "%s", (const char *)flat->notes->pdata[i]);
	if (!pp_export_stacks(export, self.stacks, "nanoseconds"))
		ret = pp_error_add(err, -ENODATA,
				   "%s: no sample of the threads; see `gprof-mt report flat`",
				   export->context->model->dir);
	pp_stacks_free(self.stacks);
	return ret;
}

static void samples_free(void *state)
{
	(void)state;
}

const struct pp_exporter pp_exporter_folded_samples = {
    .format = "folded",
    .what = "samples",
    .file_name = "gprof-mt.folded",
    .selects = PP_SELECT_THREAD,
    .needs = needs,
    .has_thread_frames = true,
    .start = samples_start,
    .finish = samples_finish,
    .free = samples_free,
};

const struct pp_exporter pp_exporter_speedscope_samples = {
    .format = "speedscope",
    .what = "samples",
    .file_name = "gprof-mt.speedscope.json",
    .selects = PP_SELECT_THREAD,
    .needs = needs,
    .write_stacks = pp_speedscope_write_stacks,
    .start = samples_start,
    .finish = samples_finish,
    .free = samples_free,
};
