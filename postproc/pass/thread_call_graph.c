/* SPDX-License-Identifier: MIT */
/*
 * The call graph of each thread, as gprof shows it.
 *
 * A process without -pg has the call paths of samples instead (sampled_calls.h).
 *
 * The text has gprof's layout: an entry per function, with its callers above and its callees below.
 * A caller's "n/total": it made n of the total calls from outside the function's cycle.  "n+m": n
 * calls by other functions, m by itself.  Calls inside a cycle are shown without a total.
 */
#include <inttypes.h>

#include "analysis/graph/graph.h"
#include "analysis/select.h"
#include "analysis/thread_cells.h"
#include "pass/sampled_calls.h"

enum { FROM = PP_N_NAMED_THREAD_CELLS, TO, CALLS, SAMPLES };

static const struct pp_column columns[] = {
    PP_NAMED_THREAD_COLUMNS("thread"),
    [FROM] = {"from", "from", PP_TYPE_TEXT, PP_COLUMN_KEY,
	      "the caller; <spontaneous>: without a name"},
    [TO] = {"to", "to", PP_TYPE_TEXT, PP_COLUMN_KEY, "the function called"},
    [CALLS] = {"calls", "calls", PP_TYPE_COUNT, PP_COLUMN_RANK,
	       "how often; none: not built with -pg"},
    [SAMPLES] = {"samples", "samples", PP_TYPE_COUNT, 0,
		 "without -pg: samples during such a call; otherwise none"},
};

struct callgraph {
	struct pp_listing listing;
	struct pp_sampled_calls *sampled;
};

#define SPONTANEOUS "<spontaneous>"
#define RULE	    "-----------------------------------------------\n"

/* State while a graph is laid out. */
struct layout {
	const struct pp_pass_context *context;
	const struct pp_graph *graph;
	GString *text;
	uint32_t *entry;       /* function -> [number] of its entry */
	uint32_t *cycle_entry; /* cycle -> [number] of its entry */
	struct totals {
		uint64_t from_outside, inside;
	} * cycles;	       /* by number */
	uint32_t *first_child; /* function -> its first index in children; has n + 1 elements */
	uint32_t *children;    /* numbers of calls, by caller */
};

static const struct pp_call *call_at(const struct pp_graph *graph, uint32_t i)
{
	return &g_array_index(graph->calls, struct pp_call, i);
}

static bool is_inside(const struct pp_graph *graph, const struct pp_call *call)
{
	uint32_t cycle = pp_graph_function(graph, call->to)->cycle;

	return call->from == call->to || (cycle && call->from != PP_SPONTANEOUS &&
					  pp_graph_function(graph, call->from)->cycle == cycle);
}

static void add_cycle_totals(struct layout *layout)
{
	const struct pp_graph *graph = layout->graph;

	layout->cycles = g_new0(struct totals, graph->n_cycles + 1);
	for (uint32_t i = 0; i < graph->calls->len; i++) {
		const struct pp_call *call = call_at(graph, i);
		struct totals *totals = &layout->cycles[pp_graph_function(graph, call->to)->cycle];

		if (!is_inside(graph, call))
			totals->from_outside += call->count;
		else if (call->from != call->to)
			totals->inside += call->count;
	}
}

/* The entry of a cycle precedes that of its first member. */
static void number_entries(struct layout *layout)
{
	const struct pp_graph *graph = layout->graph;
	uint32_t n = graph->functions->len, next = 1;

	layout->entry = g_new0(uint32_t, n + 1);
	layout->cycle_entry = g_new0(uint32_t, graph->n_cycles + 1);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t cycle = pp_graph_function(graph, i)->cycle;

		if (cycle && !layout->cycle_entry[cycle])
			layout->cycle_entry[cycle] = next++;
		layout->entry[i] = next++;
	}
}

/* Highest count first. */
static int compare_children(const void *a, const void *b, void *data)
{
	const struct pp_call *ca = call_at(data, *(const uint32_t *)a);
	const struct pp_call *cb = call_at(data, *(const uint32_t *)b);

	if (ca->count != cb->count)
		return ca->count > cb->count ? -1 : 1;
	return ca->to < cb->to ? -1 : ca->to > cb->to;
}

static void index_children(struct layout *layout)
{
	const struct pp_graph *graph = layout->graph;
	uint32_t n = graph->functions->len;
	g_autofree uint32_t *at = g_new0(uint32_t, n + 1);

	layout->first_child = g_new0(uint32_t, n + 1);
	layout->children = g_new0(uint32_t, graph->calls->len + 1);
	for (uint32_t i = 0; i < graph->calls->len; i++)
		if (call_at(graph, i)->from != PP_SPONTANEOUS)
			layout->first_child[call_at(graph, i)->from + 1]++;
	for (uint32_t i = 0; i < n; i++) {
		layout->first_child[i + 1] += layout->first_child[i];
		at[i] = layout->first_child[i];
	}
	for (uint32_t i = 0; i < graph->calls->len; i++)
		if (call_at(graph, i)->from != PP_SPONTANEOUS)
			layout->children[at[call_at(graph, i)->from]++] = i;
	for (uint32_t i = 0; i < n; i++)
		g_qsort_with_data(layout->children + layout->first_child[i],
				  (gint)(layout->first_child[i + 1] - layout->first_child[i]),
				  sizeof(*layout->children), compare_children, (void *)graph);
}

static void append_name(const struct layout *layout, uint32_t number)
{
	const struct pp_function *function = pp_graph_function(layout->graph, number);

	g_string_append(layout->text, function->name);
	if (function->cycle)
		g_string_append_printf(layout->text, " <cycle %u>", function->cycle);
	g_string_append_printf(layout->text, " [%u]\n", layout->entry[number]);
}

/* Appends a line above or below a function's own; it names `other`. */
static void append_relative(const struct layout *layout, const struct pp_call *call, uint32_t other)
{
	const struct pp_function *callee = pp_graph_function(layout->graph, call->to);
	uint64_t total = callee->cycle ? layout->cycles[callee->cycle].from_outside : callee->calls;

	if (is_inside(layout->graph, call))
		g_string_append_printf(layout->text, "%6s %5s %7s %7s %7" PRIu64 " %7s     ", "",
				       "", "", "", call->count, "");
	else
		g_string_append_printf(layout->text,
				       "%6s %5s %7s %7s %7" PRIu64 "/%-7" PRIu64 "     ", "", "",
				       "-", "-", call->count, total);
	if (other == PP_SPONTANEOUS)
		g_string_append(layout->text, SPONTANEOUS "\n");
	else
		append_name(layout, other);
}

static void append_primary(const struct layout *layout, uint32_t entry, uint64_t calls,
			   uint64_t self_calls)
{
	g_autofree char *bracketed = g_strdup_printf("[%u]", entry);

	g_string_append_printf(layout->text, "%-6s %5s %7s %7s ", bracketed, "-", "-", "-");
	if (calls + self_calls == 0)
		g_string_append_printf(layout->text, "%7s %7s ", "", "");
	else if (self_calls)
		g_string_append_printf(layout->text, "%7" PRIu64 "+%-7" PRIu64 " ", calls,
				       self_calls);
	else
		g_string_append_printf(layout->text, "%7" PRIu64 " %7s ", calls, "");
}

/* The first call of that callee; calls are sorted by callee. */
static uint32_t first_call_to(const struct pp_graph *graph, uint32_t to)
{
	uint32_t low = 0, high = graph->calls->len;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (call_at(graph, middle)->to < to)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns false if the function is not selected. */
static bool append_function(const struct layout *layout, uint32_t number)
{
	const struct pp_graph *graph = layout->graph;
	const struct pp_function *function = pp_graph_function(graph, number);
	uint32_t i = first_call_to(graph, number);

	if (!pp_selects_function(layout->context, function->name))
		return false;
	if (i == graph->calls->len || call_at(graph, i)->to != number)
		g_string_append_printf(layout->text,
				       "%6s %5s %7s %7s %7s %7s     " SPONTANEOUS "\n", "", "", "",
				       "", "", "");
	for (; i < graph->calls->len && call_at(graph, i)->to == number; i++)
		append_relative(layout, call_at(graph, i), call_at(graph, i)->from);
	append_primary(layout, layout->entry[number], function->calls, function->self_calls);
	append_name(layout, number);
	for (i = layout->first_child[number]; i < layout->first_child[number + 1]; i++)
		append_relative(layout, call_at(graph, layout->children[i]),
				call_at(graph, layout->children[i])->to);
	g_string_append(layout->text, RULE);
	return true;
}

/* Appends a cycle and its members.  Callers from outside are shown with each member. */
static void append_cycle(const struct layout *layout, uint32_t cycle)
{
	const struct pp_graph *graph = layout->graph;
	const struct totals *totals = &layout->cycles[cycle];
	uint32_t n = graph->functions->len;

	append_primary(layout, layout->cycle_entry[cycle], totals->from_outside, totals->inside);
	g_string_append_printf(layout->text, "<cycle %u as a whole> [%u]\n", cycle,
			       layout->cycle_entry[cycle]);
	for (uint32_t i = 0; i < n; i++) {
		const struct pp_function *function = pp_graph_function(graph, i);
		g_autofree char *self = function->self_calls
					    ? g_strdup_printf("+%" PRIu64, function->self_calls)
					    : g_strdup("");

		if (function->cycle != cycle)
			continue;
		g_string_append_printf(layout->text, "%6s %5s %7s %7s %7" PRIu64 "%-8s     ", "",
				       "", "-", "-", function->calls, self);
		append_name(layout, i);
	}
	g_string_append(layout->text, RULE);
}

static void append_graph(const struct pp_listing *self, const char *title,
			 const struct pp_graph *graph)
{
	GString *text = self->text;
	struct layout layout = {.context = self->context, .graph = graph, .text = text};
	uint32_t last_cycle = 0, top = self->context->top ? self->context->top : UINT32_MAX, n = 0;
	uint32_t i = 0;

	add_cycle_totals(&layout);
	number_entries(&layout);
	index_children(&layout);
	g_string_append_printf(text, "%s\n\n", title);
	g_string_append(text, "index % time    self  children    called     name\n");
	for (; i < graph->functions->len && n < top; i++) {
		uint32_t cycle = pp_graph_function(graph, i)->cycle;

		/* The members of a cycle are adjacent. */
		if (cycle && cycle != last_cycle &&
		    !pp_selects_by(self->context, PP_SELECT_FUNCTION))
			append_cycle(&layout, cycle);
		last_cycle = cycle;
		n += append_function(&layout, i);
	}
	if (!pp_selects_by(self->context, PP_SELECT_FUNCTION))
		pp_listing_rest(self, i, graph->functions->len);
	g_string_append_c(text, '\n');
	g_free(layout.cycles);
	g_free(layout.entry);
	g_free(layout.cycle_entry);
	g_free(layout.first_child);
	g_free(layout.children);
}

static void add_rows(const struct pp_listing *self, const struct pp_thread *thread,
		     const struct pp_graph *graph)
{
	for (uint32_t i = 0; i < graph->calls->len; i++) {
		const struct pp_call *call = call_at(graph, i);
		const char *from = call->from == PP_SPONTANEOUS
				       ? SPONTANEOUS
				       : pp_graph_function(graph, call->from)->name;
		const char *to = pp_graph_function(graph, call->to)->name;
		struct pp_cell *row;

		if (!pp_selects_function(self->context, from) &&
		    !pp_selects_function(self->context, to))
			continue;
		row = pp_named_thread_row(self->table, thread);
		pp_cell_set_text(&row[FROM], from);
		pp_cell_set_text(&row[TO], to);
		pp_cell_set_count(&row[CALLS], call->count);
	}
}

static void add_thread(const struct pp_listing *self, struct pp_thread *thread)
{
	struct pp_graph *graph = pp_graph_new(self->context->namer, &thread, 1);

	add_rows(self, thread, graph);
	pp_graph_free(graph);
}

static void append_unit(const struct pp_listing *self, const struct pp_unit *unit)
{
	struct pp_graph *graph =
	    pp_graph_new(self->context->namer, (struct pp_thread *const *)unit->threads->pdata,
			 unit->threads->len);

	append_graph(self, unit->title, graph);
	pp_graph_free(graph);
}

/* --- processes whose calls are not counted ---------------------------------------------------- */

static void add_sampled_rows(const struct callgraph *self, struct pp_thread *thread)
{
	g_autoptr(GPtrArray) threads = g_ptr_array_new();
	struct pp_sampled_graph *graph;

	g_ptr_array_add(threads, thread);
	graph = pp_sampled_graph_new(self->sampled, threads);
	for (guint i = 0; i < graph->calls->len; i++) {
		const struct pp_sampled_call *call = graph->calls->pdata[i];
		const struct pp_sampled_function *from = graph->functions->pdata[call->from];
		const struct pp_sampled_function *to = graph->functions->pdata[call->to];
		struct pp_cell *row;

		if (!pp_selects_function(self->listing.context, from->name) &&
		    !pp_selects_function(self->listing.context, to->name))
			continue;
		row = pp_named_thread_row(self->listing.table, thread);
		pp_cell_set_text(&row[FROM], from->name);
		pp_cell_set_text(&row[TO], to->name);
		pp_cell_set_count(&row[SAMPLES], call->total);
	}
	pp_sampled_graph_free(graph);
}

static void add_sampled(const struct callgraph *self, const struct pp_process *process)
{
	g_autoptr(GPtrArray) threads = pp_sampled_calls_threads(self->sampled, process);
	g_autoptr(GPtrArray) units = pp_thread_units(self->listing.context, threads);
	uint64_t n = 0;

	for (guint t = 0; t < threads->len; t++)
		add_sampled_rows(self, threads->pdata[t]);
	for (guint u = 0; u < units->len; u++) {
		const struct pp_unit *unit = units->pdata[u];
		struct pp_sampled_graph *graph = pp_sampled_graph_new(self->sampled, unit->threads);

		n += graph->n_samples;
		pp_sampled_graph_append(self->listing.context, self->listing.text, unit->title,
					graph);
		pp_sampled_graph_free(graph);
	}
	if (threads->len)
		pp_table_note(self->listing.table,
			      "calls of process %s are not counted: it was not built with -pg; its "
			      "call graph is from %" PRIu64 " samples",
			      process->folder, n);
}

static void *callgraph_start(const struct pp_pass_context *context)
{
	struct callgraph *self = g_new0(struct callgraph, 1);

	self->listing.context = context;
	self->sampled = pp_sampled_calls_new(context);
	return self;
}

static void callgraph_event(void *state, const struct pp_event *event)
{
	const struct callgraph *self = state;

	pp_sampled_calls_event(self->sampled, event);
}

static void callgraph_free(void *state)
{
	struct callgraph *self = state;

	pp_sampled_calls_free(self->sampled);
	g_free(self);
}

static void callgraph_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct callgraph *callgraph = state;
	struct pp_listing *self = &callgraph->listing;
	const GPtrArray *processes = self->context->model->processes;

	(void)end_ns;
	pp_listing_begin(self, pp_table_new("arcs", "Call graph", columns, G_N_ELEMENTS(columns)));
	for (guint p = 0; p < processes->len; p++) {
		g_autoptr(GPtrArray) threads =
		    pp_threads_with_calls(self->context, processes->pdata[p]);
		g_autoptr(GPtrArray) units = pp_thread_units(self->context, threads);

		for (guint t = 0; t < threads->len; t++)
			add_thread(self, threads->pdata[t]);
		for (guint u = 0; u < units->len; u++)
			append_unit(self, units->pdata[u]);
		add_sampled(callgraph, processes->pdata[p]);
	}
	pp_listing_end(self, tables);
}

const struct pp_pass pp_pass_callgraph = {
    .name = "callgraph",
    .summary = "who called whom",
    .kinds = PP_EVENT_MASK(PP_EVENT_SAMPLE),
    .selects = PP_SELECT_THREAD | PP_SELECT_FUNCTION,
    .start = callgraph_start,
    .event = callgraph_event,
    .finish = callgraph_finish,
    .free = callgraph_free,
};
