/* SPDX-License-Identifier: MIT */
/*
 * Counts samples by thread and call path, and at the end by function and by caller and callee. A
 * sample counts once for a function, and once for a caller and callee, however often they are on
 * its path (recursion).
 */
#include "pass/sampled_calls.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/select.h"
#include "analysis/thread_cells.h"
#include "core/text/duration.h"

#define RULE "-----------------------------------------------\n"

struct of_thread {
	GHashTable *paths; /* const struct pp_path * -> uint64_t *: number of samples */
	uint64_t n_lost;
};

struct pp_sampled_calls {
	const struct pp_pass_context *context;
	GPtrArray *threads; /* by serial, of struct of_thread *; NULL: none */
};

/* --- while events are read -------------------------------------------------------------------- */

static void of_thread_free(void *data)
{
	struct of_thread *of = data;

	if (of)
		g_hash_table_unref(of->paths);
	g_free(of);
}

struct pp_sampled_calls *pp_sampled_calls_new(const struct pp_pass_context *context)
{
	struct pp_sampled_calls *self = g_new0(struct pp_sampled_calls, 1);

	self->context = context;
	self->threads = g_ptr_array_new_with_free_func(of_thread_free);
	return self;
}

void pp_sampled_calls_free(struct pp_sampled_calls *self)
{
	if (self)
		g_ptr_array_unref(self->threads);
	g_free(self);
}

static struct of_thread *thread_of(struct pp_sampled_calls *self, const struct pp_thread *thread)
{
	struct of_thread *of;

	pp_by_serial_reach(self->threads, thread->serial);
	of = self->threads->pdata[thread->serial];
	if (!of) {
		of = g_new0(struct of_thread, 1);
		of->paths = g_hash_table_new_full(NULL, NULL, NULL, g_free);
		self->threads->pdata[thread->serial] = of;
	}
	return of;
}

void pp_sampled_calls_event(struct pp_sampled_calls *self, const struct pp_event *event)
{
	const struct pp_process *process = event->thread ? event->thread->process : NULL;
	struct of_thread *of;
	uint64_t n, *count;

	if (!process || process->has_counts || event->thread->arcs || !process->sample_period_ns)
		return;
	of = thread_of(self, event->thread);
	n = event->sample.weight_ns / process->sample_period_ns;
	if (!event->sample.path) {
		of->n_lost += n;
		return;
	}
	count = g_hash_table_lookup(of->paths, event->sample.path);
	if (!count) {
		count = g_new0(uint64_t, 1);
		g_hash_table_insert(of->paths, (void *)event->sample.path, count);
	}
	*count += n;
}

static const struct of_thread *known_of(const struct pp_sampled_calls *self,
					const struct pp_thread *thread)
{
	return thread->serial < self->threads->len ? self->threads->pdata[thread->serial] : NULL;
}

GPtrArray *pp_sampled_calls_threads(const struct pp_sampled_calls *self,
				    const struct pp_process *process)
{
	GPtrArray *threads = g_ptr_array_new();

	for (guint i = 0; i < process->threads->len; i++)
		if (known_of(self, process->threads->pdata[i]) &&
		    pp_selects_thread(self->context, process->threads->pdata[i]))
			g_ptr_array_add(threads, process->threads->pdata[i]);
	return threads;
}

/* --- functions, and their callers ------------------------------------------------------------- */

struct node {
	struct pp_sampled_function function; /* first: the graph takes it over */
	uint32_t number;
	uint64_t path; /* number of the last path that had it */
	bool is_own;   /* of gprof-mt's libraries */
};

struct link {
	struct pp_sampled_call call; /* first */
	uint64_t path;
};

struct building {
	const struct pp_namer *namer;
	const struct pp_process *process;
	struct pp_sampled_graph *graph;
	GHashTable *by_address;	 /* address -> struct node * */
	GHashTable *by_identity; /* "entry name" -> struct node * */
	GHashTable *by_ends;	 /* (from, to) -> struct link * */
	uint64_t n_paths;
};

static void node_free(void *data)
{
	struct node *node = data;

	g_free(node->function.name);
	g_free(node);
}

/* The address is a return address, or that of an instruction plus 1. */
static struct node *node_at(struct building *building, uint64_t address)
{
	struct node *node = g_hash_table_lookup(building->by_address, &address);
	g_autofree char *name = NULL;
	char *identity;
	uint64_t entry;

	if (node)
		return node;
	name = pp_sampled_function(building->namer, building->process, address - 1, &entry);
	identity = g_strdup_printf("%" PRIx64 " %s", entry, name);
	node = g_hash_table_lookup(building->by_identity, identity);
	if (node) {
		g_free(identity);
	} else {
		node = g_new0(struct node, 1);
		node->is_own = g_str_equal(name, PP_OWN_CODE);
		node->function.name = g_steal_pointer(&name);
		node->number = building->graph->functions->len;
		g_ptr_array_add(building->graph->functions, node);
		g_hash_table_insert(building->by_identity, identity, node);
	}
	g_hash_table_insert(building->by_address, g_memdup2(&address, sizeof(address)), node);
	return node;
}

static void add_call(struct building *building, const struct node *from, const struct node *to,
		     uint64_t n, bool is_self)
{
	uint64_t ends = (uint64_t)from->number << 32 | to->number;
	struct link *link = g_hash_table_lookup(building->by_ends, &ends);

	if (!link) {
		link = g_new0(struct link, 1);
		link->call.from = from->number;
		link->call.to = to->number;
		g_ptr_array_add(building->graph->calls, link);
		g_hash_table_insert(building->by_ends, g_memdup2(&ends, sizeof(ends)), link);
	}
	if (link->path != building->n_paths)
		link->call.total += n;
	link->path = building->n_paths;
	link->call.self += is_self ? n : 0;
}

static void add_path(struct building *building, const struct pp_path *path, uint64_t n)
{
	const struct node *called = NULL;

	building->n_paths++;
	building->graph->n_samples += n;
	for (unsigned i = 0; i < path->n; i++) {
		struct node *node = node_at(building, path->addresses[i]);

		if (node->path != building->n_paths)
			node->function.total += n;
		node->path = building->n_paths;
		node->function.self += called ? 0 : n;
		/* Its frames are one function. */
		if (called && !(called == node && node->is_own))
			add_call(building, node, called, n, i == 1);
		called = node;
	}
}

/* Most samples first; gprof-mt's own code last. */
static int compare_nodes(const void *a, const void *b)
{
	const struct node *x = *(const struct node *const *)a;
	const struct node *y = *(const struct node *const *)b;

	if (x->is_own != y->is_own)
		return x->is_own ? 1 : -1;
	if (x->function.total != y->function.total)
		return x->function.total > y->function.total ? -1 : 1;
	if (x->function.self != y->function.self)
		return x->function.self > y->function.self ? -1 : 1;
	return strcmp(x->function.name, y->function.name);
}

static int compare_links(const void *a, const void *b)
{
	const struct pp_sampled_call *x = *(const struct pp_sampled_call *const *)a;
	const struct pp_sampled_call *y = *(const struct pp_sampled_call *const *)b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static void sort(struct pp_sampled_graph *graph)
{
	g_autofree uint32_t *place = g_new0(uint32_t, graph->functions->len + 1);

	g_ptr_array_sort(graph->functions, compare_nodes);
	for (guint i = 0; i < graph->functions->len; i++)
		place[((const struct node *)graph->functions->pdata[i])->number] = i;
	for (guint i = 0; i < graph->calls->len; i++) {
		struct pp_sampled_call *call = graph->calls->pdata[i];

		call->from = place[call->from];
		call->to = place[call->to];
	}
	g_ptr_array_sort(graph->calls, compare_links);
}

static void add_thread(struct building *building, const struct of_thread *of)
{
	GHashTableIter iter;
	void *path, *count;

	building->graph->n_lost += of->n_lost;
	g_hash_table_iter_init(&iter, of->paths);
	while (g_hash_table_iter_next(&iter, &path, &count))
		add_path(building, path, *(const uint64_t *)count);
}

struct pp_sampled_graph *pp_sampled_graph_new(const struct pp_sampled_calls *self,
					      const GPtrArray *threads)
{
	const struct pp_thread *first = threads->pdata[0];
	struct pp_sampled_graph *graph = g_new0(struct pp_sampled_graph, 1);
	struct building building = {
	    .namer = self->context->namer,
	    .process = first->process,
	    .graph = graph,
	    .by_address = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
	    .by_identity = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
	    .by_ends = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
	};

	graph->functions = g_ptr_array_new_with_free_func(node_free);
	graph->calls = g_ptr_array_new_with_free_func(g_free);
	graph->period_ns = first->process->sample_period_ns;
	for (guint i = 0; i < threads->len; i++)
		add_thread(&building, known_of(self, threads->pdata[i]));
	sort(graph);
	g_hash_table_unref(building.by_address);
	g_hash_table_unref(building.by_identity);
	g_hash_table_unref(building.by_ends);
	return graph;
}

void pp_sampled_graph_free(struct pp_sampled_graph *graph)
{
	g_ptr_array_unref(graph->functions);
	g_ptr_array_unref(graph->calls);
	g_free(graph);
}

/* --- text ------------------------------------------------------------------------------------- */

static double seconds(const struct pp_sampled_graph *graph, uint64_t n)
{
	return (double)n * (double)graph->period_ns / 1e9;
}

static const struct pp_sampled_function *function_at(const struct pp_sampled_graph *graph,
						     uint32_t number)
{
	return graph->functions->pdata[number];
}

/* Appends a line above or below a function's own; it names `other`. */
static void append_relative(GString *text, const struct pp_sampled_graph *graph,
			    const struct pp_sampled_call *call, uint32_t other)
{
	g_string_append_printf(
	    text, "%6s %5s %7.2f %7.2f %7" PRIu64 "/%-7" PRIu64 "     %s [%u]\n", "", "",
	    seconds(graph, call->self), seconds(graph, call->total - call->self), call->total,
	    function_at(graph, call->to)->total, function_at(graph, other)->name, other + 1);
}

static void append_function(GString *text, const struct pp_sampled_graph *graph, uint32_t number)
{
	const struct pp_sampled_function *function = function_at(graph, number);
	g_autofree char *bracketed = g_strdup_printf("[%u]", number + 1);

	for (guint i = graph->calls->len; i-- > 0;) {
		const struct pp_sampled_call *call = graph->calls->pdata[i];

		if (call->to == number)
			append_relative(text, graph, call, call->from);
	}
	g_string_append_printf(text, "%-6s %5.1f %7.2f %7.2f %7" PRIu64 " %7s %s [%u]\n", bracketed,
			       100.0 * (double)function->total / (double)graph->n_samples,
			       seconds(graph, function->self),
			       seconds(graph, function->total - function->self), function->total,
			       "", function->name, number + 1);
	for (guint i = 0; i < graph->calls->len; i++) {
		const struct pp_sampled_call *call = graph->calls->pdata[i];

		if (call->from == number)
			append_relative(text, graph, call, call->to);
	}
	g_string_append(text, RULE);
}

void pp_sampled_graph_append(const struct pp_pass_context *context, GString *text,
			     const char *title, const struct pp_sampled_graph *graph)
{
	g_autofree char *period = pp_duration_text((int64_t)graph->period_ns);
	uint32_t n = 0, top = context->top ? context->top : UINT32_MAX;

	g_string_append_printf(text,
			       "%s\nfrom %" PRIu64 " samples of %s of CPU time: the program was "
			       "not built with -pg, so its calls are not counted",
			       title, graph->n_samples, period);
	if (graph->n_lost)
		g_string_append_printf(text, "; %" PRIu64 " more have no call path", graph->n_lost);
	g_string_append(text, "\n\nindex % time    self  children   samples          name\n");
	for (uint32_t i = 0; i < graph->functions->len && n < top; i++) {
		if (!pp_selects_function(context, function_at(graph, i)->name))
			continue;
		append_function(text, graph, i);
		n++;
	}
	if (context->top && n < graph->functions->len)
		g_string_append_printf(text, "... and %u more functions\n",
				       graph->functions->len - n);
	g_string_append_c(text, '\n');
}
