/* SPDX-License-Identifier: MIT */
/*
 * Losses and contradictions of the capture, and the accuracy of its times.  Readers and passes add
 * problems to the model while they work; this pass shows them, so it runs last.
 */
#include <inttypes.h>

#include "core/text/json.h"
#include "core/loss.h"
#include "analysis/thread_cells.h"
#include "analysis/unrecorded.h"

enum { WHAT, COUNT, WHERE };

static const struct pp_column columns[] = {
    [WHAT] = {"what", "what", PP_TYPE_TEXT, PP_COLUMN_KEY, "what is missing or contradictory"},
    [COUNT] = {"count", "count", PP_TYPE_COUNT, 0, "number; none: unknown"},
    [WHERE] = {"where", "where", PP_TYPE_TEXT, PP_COLUMN_ID, "the file or thread"},
};

enum { THREADS, CLOCK_ERROR, CLOCK_TID, ORDER };

static const struct pp_column clock_columns[] = {
    [THREADS] = {"threads", "threads", PP_TYPE_COUNT, 0, "threads with a clock of their own"},
    [CLOCK_ERROR] = {"error_ns", "largest error", PP_TYPE_TIME_NS, PP_COLUMN_MAX,
		     "maximum measured difference of a thread's clock from CLOCK_MONOTONIC"},
    [CLOCK_TID] = {"tid", "of thread", PP_TYPE_COUNT, PP_COLUMN_ID, "the thread with that error"},
    [ORDER] = {"order_ns", "order", PP_TYPE_TIME_NS, PP_COLUMN_MAX,
	       "maximum time by which an effect may be stamped before its cause"},
};

enum { CPU, START_BYTES, END_BYTES, LOST };

static const struct pp_column ring_columns[] = {
    [CPU] = {"cpu", "CPU", PP_TYPE_COUNT, PP_COLUMN_KEY, "CPU of the ring"},
    [START_BYTES] = {"start_bytes", "at first", PP_TYPE_COUNT, 0,
		     "size at the beginning, in bytes"},
    [END_BYTES] = {"end_bytes", "at the end", PP_TYPE_COUNT, 0, "size at the end, in bytes"},
    [LOST] = {"lost", "lost", PP_TYPE_COUNT, 0,
	      "events lost because the ring or the disk was full"},
};

enum { SINCE = PP_N_NAMED_THREAD_CELLS };

static const struct pp_column switched_columns[] = {
    PP_NAMED_THREAD_COLUMNS("name"),
    [SINCE] = {"since_ns", "since", PP_TYPE_TIME_NS, PP_COLUMN_NO_SUM,
	       "time since the start after which only waits and their holders are recorded"},
};

enum { END_PID, END_WHY, END_COUNT, END_SAMPLES };

static const struct pp_column end_columns[] = {
    [END_PID] = {"pid", "pid", PP_TYPE_COUNT, PP_COLUMN_ID, "the process"},
    [END_WHY] = {"why", "why", PP_TYPE_TEXT, PP_COLUMN_KEY, "why call paths end early"},
    [END_COUNT] = {"operations", "operations", PP_TYPE_COUNT, 0, "operations with such a path"},
    [END_SAMPLES] = {"samples", "samples", PP_TYPE_COUNT, 0, "samples with such a path"},
};

static const char *const end_texts[ST_N_PATH_ENDS] = {
    [ST_PATH_DEPTH] = "more frames than sync.path_depth",
    [ST_PATH_NO_OBJECT] = "code outside of all loaded objects",
    [ST_PATH_NO_TABLE] = "code without an unwind table and without a frame pointer",
    [ST_PATH_BAD_TABLE] = "an unwind table that is damaged or disagrees with the code",
    [ST_PATH_EXPRESSION] = "an unwind rule that is not supported",
    [ST_PATH_STACK] = "the next frame is outside of the thread's known stack",
};

struct quality {
	const struct pp_pass_context *context;
	const struct pp_model *model;
	uint64_t n_little; /* samples without call path of children of fork that did little */
	unsigned n_little_children;
};

static void *quality_start(const struct pp_pass_context *context)
{
	struct quality *self = g_new0(struct quality, 1);

	self->context = context;
	self->model = context->model;
	return self;
}

/* All times are CLOCK_MONOTONIC; the kernel provides the times of its own events. */
static struct pp_table *clock_table(const struct pp_model *model)
{
	struct pp_table *table =
	    pp_table_new("clock", "Clock", clock_columns, G_N_ELEMENTS(clock_columns));
	const struct pp_thread *worst = NULL;
	struct pp_cell *row;
	uint64_t n = 0;

	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_thread *thread = model->threads->pdata[i];

		if (thread->kernel_only || !thread->process->dir)
			continue;
		n++;
		if (!worst || thread->clock_error_ns > worst->clock_error_ns)
			worst = thread;
	}
	if (!worst) {
		pp_table_note(table, "no thread measured its clock");
		return table;
	}
	row = pp_table_add_row(table);
	pp_cell_set_count(&row[THREADS], n);
	pp_cell_set_time(&row[CLOCK_ERROR], worst->clock_error_ns);
	pp_cell_set_count(&row[CLOCK_TID], worst->tid);
	pp_cell_set_time(&row[ORDER], pp_order_ns(worst, worst));
	return table;
}

/* NULL if the collector had no rings, or was killed. */
static struct pp_table *ring_table(const struct pp_model *model)
{
	JsonObject *kernel = pp_json_object(model->info, "kernel");
	JsonArray *cpus = pp_json_array(kernel, "cpus");
	JsonArray *ends = pp_json_array(kernel, "ring_end_bytes");
	JsonArray *lost = pp_json_array(kernel, "lost_events");
	struct pp_table *table;

	if (!cpus || !ends || !lost)
		return NULL;
	table = pp_table_new("rings", "Rings of the kernel's events, in bytes", ring_columns,
			     G_N_ELEMENTS(ring_columns));
	for (unsigned i = 0; i < json_array_get_length(cpus); i++) {
		struct pp_cell *row = pp_table_add_row(table);

		pp_cell_set_count(&row[CPU], pp_json_element_int(cpus, i, 0));
		pp_cell_set_count(&row[START_BYTES], pp_json_int(kernel, "ring_bytes", 0));
		pp_cell_set_count(&row[END_BYTES], pp_json_element_int(ends, i, 0));
		pp_cell_set_count(&row[LOST], pp_json_element_int(lost, i, 0));
	}
	return table;
}

/* The table for sync.mode=auto; NULL if no thread was switched. */
static struct pp_table *switched_table(const struct quality *self)
{
	const GPtrArray *threads = self->model->threads;
	struct pp_table *table = NULL;

	for (guint i = 0; i < threads->len; i++) {
		const struct pp_thread *thread = threads->pdata[i];
		struct pp_cell *row;

		if (!thread->process->sync_auto || !thread->sync_since_ns)
			continue;
		if (!table)
			table = pp_table_new("sync_switched",
					     "Threads that were too busy to be recorded in full",
					     switched_columns, G_N_ELEMENTS(switched_columns));
		row = pp_named_thread_row(table, thread);
		pp_cell_set_time(&row[SINCE],
				 MAX(thread->sync_since_ns - pp_model_origin(self->model), 0));
	}
	return table;
}

/* Call paths that end before the first function of their thread. */
static struct pp_table *path_ends_table(const struct pp_model *model)
{
	struct pp_table *table = pp_table_new("path_ends", "Call paths that end early", end_columns,
					      G_N_ELEMENTS(end_columns));

	for (guint i = 0; i < model->processes->len * ST_N_PATH_ENDS; i++) {
		const struct pp_process *process = model->processes->pdata[i / ST_N_PATH_ENDS];
		unsigned end = i % ST_N_PATH_ENDS;
		struct pp_cell *row;

		if (!end_texts[end] || !(process->path_ends[end] + process->sample_ends[end]))
			continue;
		row = pp_table_add_row(table);
		pp_cell_set_count(&row[END_PID], process->pid);
		pp_cell_set_text(&row[END_WHY], end_texts[end]);
		pp_cell_set_count(&row[END_COUNT], process->path_ends[end]);
		pp_cell_set_count(&row[END_SAMPLES], process->sample_ends[end]);
	}
	table->is_for_programs = !table->rows->len;
	return table;
}

/*
 * Adds what the streams of samples lack of the histograms.  Of a process that still runs, these are
 * of another instant.
 */
static void add_lost_stacks(struct quality *self, struct pp_model *model,
			    const struct pp_process *process)
{
	uint64_t n_all = 0, n_written = 0;
	unsigned why = 0;
	g_autofree char *text = NULL;

	for (guint i = 0; i < process->threads->len; i++) {
		const struct pp_thread *thread = process->threads->pdata[i];

		n_all += pp_thread_n_samples(thread);
		n_written += thread->stack_samples;
		why |= thread->stacks_why;
	}
	if (process->is_live || (!process->has_stacks && !why))
		return;
	text = pp_loss_text("samples without time and call path", why);
	if (n_all > n_written && why == PP_LOSS_LITTLE) {
		self->n_little += n_all - n_written;
		self->n_little_children++;
	} else if (n_all > n_written) {
		pp_model_add_problem(model, text, process->folder, n_all - n_written);
	} else if (n_written > n_all) {
		pp_model_add_problem(model, "samples that the counts of addresses lack",
				     process->folder, n_written - n_all);
	}
	if (process->sample_paths_lost)
		pp_model_add_problem(model, "samples whose call path is not known", process->folder,
				     process->sample_paths_lost);
}

/* Sections that could not be stepped to their end, of the mode that samples accesses. */
static void add_abandoned(struct pp_model *model, const struct pp_process *process)
{
	for (unsigned why = 0; why < ST_ACCESS_N_WHYS; why++)
		if (process->abandoned[why])
			pp_model_add_problem(model, pp_loss_abandoned_text(why), process->folder,
					     process->abandoned[why]);
}

/* No fault: a child of fork has no files of its own for a few samples. */
static void note_little(const struct quality *self, struct pp_table *table)
{
	if (self->n_little)
		pp_table_note(
		    table,
		    "%" PRIu64 " samples of %u children of fork, which did too little to "
		    "have files of their own, count in report flat, without time and call path",
		    self->n_little, self->n_little_children);
}

static void quality_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct quality *self = state;
	struct pp_table *table =
	    pp_table_new("quality", "Data quality", columns, G_N_ELEMENTS(columns));
	struct pp_table *rings, *switched;
	g_autofree char *live = NULL, *ring = NULL;

	(void)end_ns;
	for (guint i = 0; i < self->model->processes->len; i++) {
		add_lost_stacks(self, (struct pp_model *)self->model,
				self->model->processes->pdata[i]);
		add_abandoned((struct pp_model *)self->model, self->model->processes->pdata[i]);
	}
	for (guint i = 0; i < self->model->problems->len; i++) {
		const struct pp_problem *problem = self->model->problems->pdata[i];
		struct pp_cell *row = pp_table_add_row(table);

		pp_cell_set_text(&row[WHAT], problem->what);
		if (problem->count)
			pp_cell_set_count(&row[COUNT], problem->count);
		pp_cell_set_text(&row[WHERE], problem->where);
	}
	live = pp_model_live_text(self->model);
	ring = pp_model_ring_text(self->model);
	if (ring)
		pp_table_note(table, "%s", ring);
	if (live)
		pp_table_note(table, "%s; records that are still in memory are not in it", live);
	else if (!table->rows->len)
		pp_table_note(table, "nothing lost, nothing contradictory");
	note_little(self, table);
	pp_unrecorded_note(table, self->model);
	g_ptr_array_add(tables, table);
	g_ptr_array_add(tables, clock_table(self->model));
	g_ptr_array_add(tables, path_ends_table(self->model));
	switched = switched_table(self);
	if (switched)
		g_ptr_array_add(tables, switched);
	rings = ring_table(self->model);
	if (rings)
		g_ptr_array_add(tables, rings);
}

static const char *const needs[] = {"consistency", NULL};

const struct pp_pass pp_pass_quality = {
    .name = "quality",
    .summary = "losses, contradictions",
    .needs = needs,
    .kinds = PP_EVENT_MASK(PP_EVENT_LOST) | PP_EVENT_MASK(PP_EVENT_SAMPLE) |
	     PP_EVENT_MASK(PP_EVENT_SEGMENT) | PP_CALL_KINDS,
    .start = quality_start,
    .finish = quality_finish,
    .free = g_free,
};
