/* SPDX-License-Identifier: MIT */
/*
 * How often each function was called, by each thread and by all together: gprof's flat profile.
 * Without samples there is no time to show, and its columns say so.
 */
#include <inttypes.h>
#include <string.h>

#include "pass/graph.h"
#include "pass/shown.h"

enum { PID, IMAGE, TID, INDEX, NAME, CALLS, RECURSIVE, SELF };

static const struct pp_column columns[] = {
    [PID] = {"pid", "pid", PP_TYPE_COUNT, 0, "process"},
    [IMAGE] = {"image", "image", PP_TYPE_COUNT, 0,
	       "0, 1, ...: which program of the process, one after each exec"},
    [TID] = {"tid", "tid", PP_TYPE_COUNT, 0, "thread"},
    [INDEX] = {"index", "index", PP_TYPE_COUNT, 0, "number of the thread in its process"},
    [NAME] = {"name", "name", PP_TYPE_TEXT, 0, "function"},
    [CALLS] = {"calls", "calls", PP_TYPE_COUNT, 0, "how often it was called"},
    [RECURSIVE] = {"recursive_calls", "recursive", PP_TYPE_COUNT, 0, "of these, by itself"},
    [SELF] = {"self_s", "self", PP_TYPE_SECONDS, 0, "CPU time in it; needs samples"},
};

struct flat {
	const struct pp_pass_context *context;
	struct pp_table *table;
	GString *text;
	bool has_recursion;
};

static uint64_t all_calls(const struct pp_function *function)
{
	return function->calls + function->self_calls;
}

static int compare_functions(const void *a, const void *b)
{
	const struct pp_function *fa = *(const struct pp_function *const *)a;
	const struct pp_function *fb = *(const struct pp_function *const *)b;

	if (all_calls(fa) != all_calls(fb))
		return all_calls(fa) > all_calls(fb) ? -1 : 1;
	return strcmp(fa->name, fb->name);
}

/* Those that were called, most often first. */
static GPtrArray *sorted_functions(const struct pp_graph *graph)
{
	GPtrArray *sorted = g_ptr_array_new();

	for (guint i = 0; i < graph->functions->len; i++)
		if (pp_graph_function(graph, i)->profiled)
			g_ptr_array_add(sorted, pp_graph_function(graph, i));
	g_ptr_array_sort(sorted, compare_functions);
	return sorted;
}

static void append_text(GString *text, const char *title, const GPtrArray *functions)
{
	g_string_append_printf(text, "%s\n\n", title);
	g_string_append(text, "  %   cumulative   self              self     total\n"
			      " time   seconds   seconds    calls  us/call  us/call  name\n");
	for (guint i = 0; i < functions->len; i++) {
		const struct pp_function *function = functions->pdata[i];

		g_string_append_printf(text, "%6s %10s %8s %8" PRIu64 " %8s %8s  %s\n", "-", "-",
				       "-", all_calls(function), "-", "-", function->name);
	}
	g_string_append_c(text, '\n');
}

static void add_rows(struct pp_table *table, const struct pp_thread *thread,
		     const GPtrArray *functions)
{
	for (guint i = 0; i < functions->len; i++) {
		const struct pp_function *function = functions->pdata[i];
		struct pp_cell *row = pp_table_add_row(table);

		pp_cell_set_count(&row[PID], thread->process->pid);
		pp_cell_set_count(&row[IMAGE], thread->process->image);
		pp_cell_set_count(&row[TID], thread->tid);
		pp_cell_set_count(&row[INDEX], thread->index);
		pp_cell_set_text(&row[NAME], function->name);
		pp_cell_set_count(&row[CALLS], all_calls(function));
		pp_cell_set_count(&row[RECURSIVE], function->self_calls);
	}
}

static void add_thread(struct flat *self, struct pp_thread *thread)
{
	struct pp_graph *graph = pp_graph_new(self->context->namer, &thread, 1);
	GPtrArray *functions = sorted_functions(graph);
	g_autofree char *title = pp_thread_title(thread);

	for (guint i = 0; i < functions->len; i++)
		self->has_recursion |= ((struct pp_function *)functions->pdata[i])->self_calls > 0;
	add_rows(self->table, thread, functions);
	append_text(self->text, title, functions);
	g_ptr_array_unref(functions);
	pp_graph_free(graph);
}

static void add_process(struct flat *self, const struct pp_process *process)
{
	GPtrArray *threads = pp_threads_with_calls(self->context, process);

	if (threads->len > 1) {
		struct pp_graph *graph = pp_graph_new(
		    self->context->namer, (struct pp_thread *const *)threads->pdata, threads->len);
		GPtrArray *functions = sorted_functions(graph);
		g_autofree char *title = g_strdup_printf("%u threads of process %s together",
							 threads->len, process->folder);

		append_text(self->text, title, functions);
		g_ptr_array_unref(functions);
		pp_graph_free(graph);
	}
	for (guint i = 0; i < threads->len; i++)
		add_thread(self, threads->pdata[i]);
	g_ptr_array_unref(threads);
}

static void *flat_start(const struct pp_pass_context *context)
{
	struct flat *self = g_new0(struct flat, 1);

	self->context = context;
	return self;
}

static void flat_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct flat *self = state;
	const GPtrArray *processes = self->context->model->processes;

	(void)end_ns;
	self->table = pp_table_new("functions", "Flat profile", columns, G_N_ELEMENTS(columns));
	self->text = g_string_new(NULL);
	for (guint i = 0; i < processes->len; i++)
		add_process(self, processes->pdata[i]);
	if (self->table->rows->len) {
		g_string_truncate(self->text, self->text->len - 1);
		self->table->text = g_string_free(self->text, FALSE);
		pp_table_note(self->table,
			      "no times: the profile counts calls and takes no samples");
		if (self->has_recursion)
			pp_table_note(self->table,
				      "calls include those of functions to themselves, "
				      "which gprof leaves out of its flat profile");
	} else {
		g_string_free(self->text, TRUE);
		pp_note_no_calls(self->table, self->context);
	}
	g_ptr_array_add(tables, self->table);
}

const struct pp_pass pp_pass_flat = {
    .name = "flat",
    .start = flat_start,
    .finish = flat_finish,
    .free = g_free,
};
