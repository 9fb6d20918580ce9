/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks of CPU time, by samples: call paths of those recorded with their stacks, else the
 * function alone.  `wall` adds the waits and blocking calls, with the function that waited: the
 * tree of section calltree, by thread.
 */
#include <errno.h>
#include <inttypes.h>

#include "analysis/paths/sums.h"
#include "export/stacks/samples.h"
#include "export/stacks/speedscope.h"
#include "export/stacks/stacks.h"
#include "analysis/select.h"
#include "analysis/thread_cells.h"

static const char *const needs[] = {"flat", NULL};

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
	struct pp_path_sums *sums;
	bool with_waits;
	struct pp_stacks *stacks;
};

static void *start(const struct pp_export *export, bool with_waits)
{
	struct folded_samples *self = g_new0(struct folded_samples, 1);

	self->export = export;
	self->with_waits = with_waits;
	self->sums = pp_path_sums_new(export->context, true);
	self->stacks = pp_stacks_new(0);
	return self;
}

static void *samples_start(const struct pp_export *export)
{
	return start(export, false);
}

static void *wall_start(const struct pp_export *export)
{
	return start(export, true);
}

static void samples_event(void *state, const struct pp_event *event)
{
	pp_path_sums_event(((struct folded_samples *)state)->sums, event);
}

static bool is_sampled(const struct folded_samples *self, const struct pp_thread *thread)
{
	const struct pp_path_thread *known = pp_path_sums_thread(self->sums, thread);

	return known && known->sampled;
}

/* The samples of a thread without stacks; they have no times. */
static void add_row(void *data, const struct pp_thread *thread, const char *function, uint64_t ns)
{
	const struct folded_samples *self = data;
	struct pp_stack *stack;

	if (is_sampled(self, thread) || pp_selects_by(self->export->context, PP_SELECT_TIME))
		return;
	stack = pp_stacks_thread(self->stacks, thread, self->export->no_threads);
	pp_stack_child(self->stacks, stack, function)->value += ns;
}

static struct pp_stack *fold_path(const struct folded_samples *self, const struct pp_path_use *use)
{
	const struct pp_namer *namer = self->export->context->namer;
	struct pp_stack *stack =
	    pp_stacks_thread(self->stacks, use->thread, self->export->no_threads);
	unsigned n_own =
	    use->kind == PP_PATH_CPU && use->path
		? pp_samples_own(namer, use->process, use->path->addresses, use->path->n)
		: 0;

	for (unsigned i = use->path ? use->path->n : 0; i-- > n_own;)
		stack = pp_stack_address(self->stacks, stack, namer, use->process,
					 use->path->addresses[i]);
	if (n_own)
		stack = pp_stack_child(self->stacks, stack, PP_OWN_CODE);
	if (use->kind == PP_PATH_CPU)
		return use->path ? stack : pp_stack_child(self->stacks, stack, "[no call path]");
	if (!use->path && use->site)
		stack = pp_stack_address(self->stacks, stack, namer, use->process, use->site);
	return pp_stack_child(self->stacks, stack,
			      use->kind == PP_PATH_CALL ? pp_io_name(use->op)
							: pp_sync_function(use->op));
}

static void add_uses(const struct folded_samples *self)
{
	const GPtrArray *uses = pp_path_sums_uses(self->sums);

	for (guint i = 0; i < uses->len; i++) {
		const struct pp_path_use *use = uses->pdata[i];

		if (use->kind == PP_PATH_CPU ? !is_sampled(self, use->thread) : !self->with_waits)
			continue;
		fold_path(self, use)->value +=
		    (uint64_t)(use->ns - (self->with_waits ? use->in_waits_ns : 0));
	}
}

static int samples_finish(void *state, int64_t end_ns, struct pp_error *err)
{
	struct folded_samples *self = state;
	const struct pp_export *export = self->export;
	const struct pp_table *flat;

	pp_path_sums_finish(self->sums, end_ns);
	flat = pp_samples_each(export, add_row, self);
	add_uses(self);
	for (guint i = 0; i < flat->notes->len && !self->with_waits; i++)
		pp_export_note(export, "%s", (const char *)flat->notes->pdata[i]);
	if (pp_export_stacks(export, self->stacks, "nanoseconds"))
		return 0;
	return pp_error_add(err, -ENODATA,
			    self->with_waits
				? "%s: the threads have no samples and no waits"
				: "%s: no sample of the threads; see `gprof-mt report flat`",
			    export->context->model->dir);
}

static void samples_free(void *state)
{
	struct folded_samples *self = state;

	pp_path_sums_free(self->sums);
	pp_stacks_free(self->stacks);
	g_free(self);
}

unsigned pp_samples_own(const struct pp_namer *namer, const struct pp_process *process,
			const uint64_t *path, unsigned n)
{
	unsigned n_own = 0;

	while (namer->is_own && n_own < n && namer->is_own(namer->data, process, path[n_own] - 1))
		n_own++;
	return n_own;
}

#define EXPORTER(format_name, what_name, file, first, ...)                                         \
	{                                                                                          \
		.format = format_name, .what = what_name, .file_name = file,                       \
		.kinds = PP_PATH_SUMS_KINDS, .selects = PP_SELECT_THREAD | PP_SELECT_TIME,         \
		.needs = needs, .start = first, .event = samples_event, .finish = samples_finish,  \
		.free = samples_free, __VA_ARGS__                                                  \
	}

const struct pp_exporter pp_exporter_folded_samples =
    EXPORTER("folded", "samples", "gprof-mt.folded", samples_start, .has_thread_frames = true);
const struct pp_exporter pp_exporter_folded_wall =
    EXPORTER("folded", "wall", "gprof-mt.folded", wall_start, .has_thread_frames = true);
const struct pp_exporter pp_exporter_speedscope_samples =
    EXPORTER("speedscope", "samples", "gprof-mt.speedscope.json", samples_start,
	     .write_stacks = pp_speedscope_write_stacks);
const struct pp_exporter pp_exporter_speedscope_wall =
    EXPORTER("speedscope", "wall", "gprof-mt.speedscope.json", wall_start,
	     .write_stacks = pp_speedscope_write_stacks);
