/* SPDX-License-Identifier: MIT */
/*
 * The call graph of each process over the selected threads: functions with their call counts and
 * the CPU time that samples found in them, and the arcs between them.
 */
#include "analysis/select.h"
#include "analysis/graph/graph.h"
#include "analysis/thread_cells.h"

#include <inttypes.h>

enum {
	NODE_ID,
	NODE_PID,
	NODE_IMAGE,
	NODE_NAME,
	NODE_CALLS,
	NODE_SELF_CALLS,
	NODE_SAMPLES,
	NODE_SELF,
	NODE_CYCLE,
	NODE_LABEL,
	N_NODE_COLUMNS,
};

static const struct pp_column node_columns[N_NODE_COLUMNS] = {
    [NODE_ID] = {"id", "id", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,
		 "its number in this graph"},
    [NODE_PID] = {"pid", "pid", PP_TYPE_COUNT, PP_COLUMN_IF_SEVERAL | PP_COLUMN_ID, "process"},
    [NODE_IMAGE] = {"image", "image", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,
		    "number of the process's image, one more after each exec"},
    [NODE_NAME] = {"name", "name", PP_TYPE_TEXT, PP_COLUMN_KEY, "function"},
    [NODE_CALLS] = {"calls", "calls", PP_TYPE_COUNT, 0,
		    "number of calls; none: not built with -pg"},
    [NODE_SELF_CALLS] = {"recursive_calls", "recursive", PP_TYPE_COUNT, 0,
			 "of these, recursive calls"},
    [NODE_SAMPLES] = {"samples", "samples", PP_TYPE_COUNT, 0, "number of samples in it"},
    [NODE_SELF] = {"self_s", "self", PP_TYPE_SECONDS, 0, "CPU time in it: samples times period"},
    [NODE_CYCLE] = {"cycle", "cycle", PP_TYPE_COUNT, 0,
		    "number of the cycle of functions that call each other, in its process; none"},
    [NODE_LABEL] = {"label", "label", PP_TYPE_TEXT, PP_COLUMN_TEXT_ONLY, "label in drawings"},
};

enum { EDGE_FROM, EDGE_TO, EDGE_COUNT, N_EDGE_COLUMNS };

static const struct pp_column edge_columns[N_EDGE_COLUMNS] = {
    [EDGE_FROM] = {"from", "from", PP_TYPE_COUNT, PP_COLUMN_ID, "id of the caller"},
    [EDGE_TO] = {"to", "to", PP_TYPE_COUNT, PP_COLUMN_ID, "id of the function called"},
    [EDGE_COUNT] = {"count", "count", PP_TYPE_COUNT, 0, "how often"},
};

struct calls {
	const struct pp_pass_context *context;
	struct pp_table *nodes, *edges;
	uint64_t unnamed;   /* from code without a name */
	uint64_t elsewhere; /* in functions that are not in the graph */
	double elsewhere_s;
};

/* --- samples -------------------------------------------------------------------------------- */

static char *identity_of(uint64_t entry, const char *name)
{
	return g_strdup_printf("%" PRIx64 " %s", entry, name);
}

/* "entry name" -> number of the function plus 1. */
static GHashTable *index_functions(const struct pp_graph *graph)
{
	GHashTable *numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (guint i = 0; i < graph->functions->len; i++) {
		const struct pp_function *function = pp_graph_function(graph, i);

		g_hash_table_insert(numbers, identity_of(function->entry, function->name),
				    GUINT_TO_POINTER(i + 1));
	}
	return numbers;
}

static void add_sample(struct calls *self, const struct pp_thread *thread, GHashTable *numbers,
		       const struct pp_sample *sample, uint64_t *samples)
{
	const struct pp_namer *namer = self->context->namer;
	uint64_t return_address = sample->address + 1; /* the namer expects return addresses */
	uint64_t entry =
	    namer->entry ? namer->entry(namer->data, thread->process, return_address) : 0;
	g_autofree char *name = namer->function(namer->data, thread->process, return_address);
	g_autofree char *identity = identity_of(entry, name);
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, identity));

	if (number) {
		samples[number - 1] += sample->count;
		return;
	}
	self->elsewhere += sample->count;
	self->elsewhere_s +=
	    (double)sample->count * (double)thread->process->sample_period_ns / 1e9;
}

/* The number of samples by function; NULL if no samples were taken.  The caller frees it. */
static uint64_t *count_samples(struct calls *self, const struct pp_graph *graph,
			       const GPtrArray *threads)
{
	uint64_t *samples = g_new0(uint64_t, graph->functions->len + 1);
	g_autoptr(GHashTable) numbers = index_functions(graph);
	bool any = false;

	for (guint t = 0; t < threads->len; t++) {
		const struct pp_thread *thread = threads->pdata[t];

		any |= !thread->process->why_no_samples && !thread->sample_error;
		for (guint i = 0; thread->samples && i < thread->samples->len; i++)
			add_sample(self, thread, numbers,
				   &g_array_index(thread->samples, struct pp_sample, i), samples);
	}
	if (!any)
		g_clear_pointer(&samples, g_free);
	return samples;
}

/* --- the tables ----------------------------------------------------------------------------- */

static char *label_of(const struct pp_function *function, double self_s)
{
	GString *label = g_string_new(function->name);

	if (function->cycle)
		g_string_append_printf(label, " <cycle %" PRIu32 ">", function->cycle);
	if (function->profiled)
		g_string_append_printf(label, "\n%" PRIu64 " calls",
				       function->calls + function->self_calls);
	if (self_s > 0)
		g_string_append_printf(label, "\n%.2f s", self_s);
	return g_string_free(label, FALSE);
}

static void add_node(struct calls *self, const struct pp_process *process, guint id,
		     const struct pp_function *function, const uint64_t *samples)
{
	struct pp_cell *row = pp_table_add_row(self->nodes);
	double self_s = samples ? (double)*samples * (double)process->sample_period_ns / 1e9 : 0.0;
	g_autofree char *label = label_of(function, self_s);

	pp_cell_set_count(&row[NODE_ID], id);
	pp_cell_set_count(&row[NODE_PID], process->pid);
	pp_cell_set_count(&row[NODE_IMAGE], process->image);
	pp_cell_set_text(&row[NODE_NAME], function->name);
	pp_cell_set_text(&row[NODE_LABEL], label);
	if (function->profiled) {
		pp_cell_set_count(&row[NODE_CALLS], function->calls + function->self_calls);
		pp_cell_set_count(&row[NODE_SELF_CALLS], function->self_calls);
	}
	if (samples) {
		pp_cell_set_count(&row[NODE_SAMPLES], *samples);
		pp_cell_set_number(&row[NODE_SELF], self_s);
	}
	if (function->cycle)
		pp_cell_set_count(&row[NODE_CYCLE], function->cycle);
}

static void add_edges(struct calls *self, const struct pp_graph *graph, guint first_id)
{
	for (guint i = 0; i < graph->calls->len; i++) {
		const struct pp_call *call = &g_array_index(graph->calls, struct pp_call, i);
		struct pp_cell *row;

		if (call->from == PP_SPONTANEOUS) {
			self->unnamed += call->count;
			continue;
		}
		row = pp_table_add_row(self->edges);
		pp_cell_set_count(&row[EDGE_FROM], first_id + call->from);
		pp_cell_set_count(&row[EDGE_TO], first_id + call->to);
		pp_cell_set_count(&row[EDGE_COUNT], call->count);
	}
}

static void add_process(struct calls *self, const struct pp_process *process)
{
	g_autoptr(GPtrArray) threads = pp_threads_with_calls(self->context, process);
	struct pp_graph *graph = pp_graph_new(
	    self->context->namer, (struct pp_thread *const *)threads->pdata, threads->len);
	g_autofree uint64_t *samples = count_samples(self, graph, threads);
	guint first_id = self->nodes->rows->len;

	for (guint i = 0; i < graph->functions->len; i++)
		add_node(self, process, first_id + i, pp_graph_function(graph, i),
			 samples ? &samples[i] : NULL);
	add_edges(self, graph, first_id);
	pp_graph_free(graph);
}

static gint compare_edges(gconstpointer a, gconstpointer b)
{
	const struct pp_cell *x = *(struct pp_cell *const *)a, *y = *(struct pp_cell *const *)b;

	return pp_edge_order(x, y, EDGE_COUNT, EDGE_FROM, EDGE_TO);
}

static void *calls_start(const struct pp_pass_context *context)
{
	struct calls *self = g_new0(struct calls, 1);

	self->context = context;
	return self;
}

static void calls_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct calls *self = state;
	const GPtrArray *processes = self->context->model->processes;

	(void)end_ns;
	self->nodes = pp_table_new("nodes", "Functions", node_columns, N_NODE_COLUMNS);
	self->edges = pp_table_new("edges", "Calls", edge_columns, N_EDGE_COLUMNS);
	for (guint i = 0; i < processes->len; i++)
		add_process(self, processes->pdata[i]);
	g_ptr_array_sort(self->edges->rows, compare_edges);
	if (!self->nodes->rows->len)
		pp_table_note(self->nodes, "no calls by these threads");
	if (self->unnamed)
		pp_table_note(self->edges, "left out: %" PRIu64 " calls from code without a name",
			      self->unnamed);
	if (self->elsewhere)
		pp_table_note(self->nodes,
			      "left out: %.2f s in functions without -pg; see `gprof-mt report "
			      "flat`",
			      self->elsewhere_s);
	g_ptr_array_add(tables, self->nodes);
	g_ptr_array_add(tables, self->edges);
}

const struct pp_pass pp_pass_calls = {
    .name = "calls",
    .selects = PP_SELECT_THREAD,
    .start = calls_start,
    .finish = calls_finish,
    .free = g_free,
};
