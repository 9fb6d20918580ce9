/* SPDX-License-Identifier: MIT */
/* Maps arcs between addresses to functions, and finds cycles as strongly connected components. */
#include "analysis/graph/graph.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/caller.h"
#include "analysis/graph/components.h"
#include "analysis/graph/links.h"

/* Working data: functions are in order of appearance. */
struct maker {
	const struct pp_namer *namer;
	const struct pp_process *process;
	GHashTable *by_address;	 /* code address -> number + 1 */
	GHashTable *by_identity; /* "entry name" -> number + 1 */
	GHashTable *calls;	 /* from << 32 | to -> struct pp_call * */
	struct pp_graph *graph;
};

/* --- functions and calls from arcs ---------------------------------------------------------- */

static void function_clear(void *data)
{
	g_free(((struct pp_function *)data)->name);
}

static uint32_t add_function(struct maker *maker, uint64_t address, char *name)
{
	const struct pp_namer *namer = maker->namer;
	uint64_t entry = namer->entry ? namer->entry(namer->data, maker->process, address) : 0;
	char *identity = g_strdup_printf("%" PRIx64 " %s", entry, name);
	uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(maker->by_identity, identity));
	struct pp_function function = {.name = name, .entry = entry};

	if (number) {
		g_free(identity);
		g_free(name);
		return number;
	}
	g_array_append_val(maker->graph->functions, function);
	number = maker->graph->functions->len;
	g_hash_table_insert(maker->by_identity, identity, GUINT_TO_POINTER(number));
	return number;
}

/* The number of the function at the return address; PP_SPONTANEOUS for a caller without a name. */
static uint32_t find_function(struct maker *maker, uint64_t address, bool is_caller)
{
	const struct pp_namer *namer = maker->namer;
	uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(maker->by_address, &address));
	char *name;

	if (number)
		return number - 1;
	name = namer->function(namer->data, maker->process, address);
	if (is_caller && g_str_has_prefix(name, "0x")) {
		g_free(name);
		return PP_SPONTANEOUS;
	}
	number = add_function(maker, address, name);
	g_hash_table_insert(maker->by_address, g_memdup2(&address, sizeof(address)),
			    GUINT_TO_POINTER(number));
	return number - 1;
}

/* Addresses in our libraries are never among the known ones. */
static uint32_t find_caller(struct maker *maker, const struct pp_arc *arc)
{
	bool is_known = g_hash_table_contains(maker->by_address, &arc->from);
	uint64_t caller = is_known ? arc->from : pp_arc_caller(maker->namer, maker->process, arc);

	return caller || !arc->from ? find_function(maker, caller, true) : PP_SPONTANEOUS;
}

static void add_arc(struct maker *maker, const struct pp_arc *arc)
{
	uint32_t to = find_function(maker, arc->self, false);
	uint32_t from = find_caller(maker, arc);
	uint64_t key = (uint64_t)from << 32 | to;
	struct pp_function *callee = pp_graph_function(maker->graph, to);
	struct pp_call *call = g_hash_table_lookup(maker->calls, &key);

	callee->profiled = true;
	if (from == to)
		callee->self_calls += arc->count;
	else
		callee->calls += arc->count;
	if (!call) {
		call = g_new(struct pp_call, 1);
		*call = (struct pp_call){from, to, 0};
		g_hash_table_insert(maker->calls, g_memdup2(&key, sizeof(key)), call);
	}
	call->count += arc->count;
}

static int compare_calls(const void *a, const void *b)
{
	const struct pp_call *ca = a, *cb = b;

	if (ca->to != cb->to)
		return ca->to < cb->to ? -1 : 1;
	if (ca->count != cb->count)
		return ca->count < cb->count ? -1 : 1;
	return ca->from < cb->from ? -1 : ca->from > cb->from;
}

/* --- cycles --------------------------------------------------------------------------------- */

/* Sorts the functions: callers before callees. */
static void reorder(struct pp_graph *graph, const uint32_t *finished)
{
	uint32_t n = graph->functions->len;
	g_autofree uint32_t *new_number = g_new0(uint32_t, n + 1);
	GArray *functions = g_array_sized_new(FALSE, FALSE, sizeof(struct pp_function), n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t old = finished[n - 1 - i];

		new_number[old] = i;
		g_array_append_vals(functions, pp_graph_function(graph, old), 1);
	}
	/* The names belong to the new array now. */
	g_array_set_clear_func(graph->functions, NULL);
	g_array_unref(graph->functions);
	g_array_set_clear_func(functions, function_clear);
	graph->functions = functions;
	for (guint i = 0; i < graph->calls->len; i++) {
		struct pp_call *call = &g_array_index(graph->calls, struct pp_call, i);

		call->to = new_number[call->to];
		if (call->from != PP_SPONTANEOUS)
			call->from = new_number[call->from];
	}
	g_array_sort(graph->calls, compare_calls);
	/* Cycles were numbered from the last callee: reverse them, too. */
	for (uint32_t i = 0; i < n; i++) {
		struct pp_function *function = pp_graph_function(graph, i);

		if (function->cycle)
			function->cycle = graph->n_cycles + 1 - function->cycle;
	}
}

static void find_cycles(struct pp_graph *graph)
{
	g_autoptr(GArray) arcs = g_array_new(FALSE, FALSE, sizeof(struct pp_component_arc));
	struct pp_components components;

	for (guint i = 0; i < graph->calls->len; i++) {
		const struct pp_call *call = &g_array_index(graph->calls, struct pp_call, i);
		struct pp_component_arc arc = {call->from, call->to};

		if (call->from != PP_SPONTANEOUS)
			g_array_append_val(arcs, arc);
	}
	pp_components_find(&components, graph->functions->len, arcs);
	graph->n_cycles = components.n;
	for (uint32_t i = 0; i < graph->functions->len; i++)
		pp_graph_function(graph, i)->cycle = components.of[i];
	reorder(graph, components.finished);
	pp_components_done(&components);
}

/* -------------------------------------------------------------------------------------------- */

struct pp_graph *pp_graph_new(const struct pp_namer *namer, struct pp_thread *const *threads,
			      unsigned n_threads)
{
	struct pp_graph *graph = g_new0(struct pp_graph, 1);
	struct maker maker = {.namer = namer, .graph = graph};
	GHashTableIter iter;
	void *call;

	graph->functions = g_array_new(FALSE, TRUE, sizeof(struct pp_function));
	graph->calls = g_array_new(FALSE, FALSE, sizeof(struct pp_call));
	maker.by_address = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	maker.by_identity = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	maker.calls = g_hash_table_new_full(pp_pair_hash, g_int64_equal, g_free, g_free);
	for (unsigned t = 0; t < n_threads; t++) {
		maker.process = threads[t]->process;
		for (guint i = 0; threads[t]->arcs && i < threads[t]->arcs->len; i++)
			add_arc(&maker, &g_array_index(threads[t]->arcs, struct pp_arc, i));
	}
	g_hash_table_iter_init(&iter, maker.calls);
	while (g_hash_table_iter_next(&iter, NULL, &call))
		g_array_append_vals(graph->calls, call, 1);
	g_array_sort(graph->calls, compare_calls);
	g_hash_table_unref(maker.by_address);
	g_hash_table_unref(maker.by_identity);
	g_hash_table_unref(maker.calls);
	find_cycles(graph);
	return graph;
}

void pp_graph_free(struct pp_graph *graph)
{
	if (!graph)
		return;
	g_array_unref(graph->functions);
	g_array_unref(graph->calls);
	g_free(graph);
}
