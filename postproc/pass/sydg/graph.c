/* SPDX-License-Identifier: MIT */
/*
 * The synchronization dependence graph (paper 000, section 3.2; analysis/dependence/dependence.h):
 * an edge from a critical section to each one whose threads waited for it.  Nodes are the rows of
 * `bottlenecks`, with the same rank; in a short range of time, the instances, as in the paper's
 * Figure 4.  Waits for nobody that is known come from the node "?", so except for barriers, the
 * edges have all waits for locks and semaphores.
 */
#include <inttypes.h>

#include "analysis/select.h"
#include "analysis/thread_cells.h"
#include "pass/sydg/rows.h"

/* With --time, up to that many instances are drawn one by one. */
#define MAX_INSTANCES 200

/* The number of the node for nobody. */
#define NOBODY 0

enum {
	ID,
	NAME,
	PID,
	IMAGE,
	BOX,
	LOCK,
	TYPE,
	THREAD,
	TID,
	SINCE,
	ENTRY,
	EXIT,
	APWT,
	INSTANCES,
	HOLD,
	PATH,
	N_NODE_COLUMNS
};

static const struct pp_column node_columns[N_NODE_COLUMNS] = {
    [ID] = {"id", "id", PP_TYPE_COUNT, PP_COLUMN_ID, "number of the node"},
    [NAME] = {"name", "section", PP_TYPE_TEXT, PP_COLUMN_ID,
	      "CS and its rank in `bottlenecks`; with d1, ...: an instance of it"},
    [PID] = {"pid", "pid", PP_TYPE_COUNT, PP_COLUMN_IF_SEVERAL | PP_COLUMN_ID, "process"},
    [IMAGE] = {"image", "image", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,
	       "0, 1, ...: number of the process's image, one more after each exec"},
    [BOX] = {"box", "box", PP_TYPE_TEXT, PP_COLUMN_JSON_ONLY,
	     "nodes in one box: with the same lock; instances: in the same thread"},
    [LOCK] = {"lock", "lock", PP_TYPE_TEXT, PP_COLUMN_KEY,
	      "the object for which most of the waits were, or that of the instance"},
    [TYPE] = {"type", "type", PP_TYPE_TEXT, PP_COLUMN_KEY, PP_SYNC_TYPES},
    [THREAD] = {"thread", "thread", PP_TYPE_TEXT, PP_COLUMN_KEY, "instances: the thread"},
    [TID] = {"tid", "tid", PP_TYPE_COUNT, PP_COLUMN_ID, "instances: its thread id"},
    [SINCE] = {"since_ns", "since", PP_TYPE_TIME_NS, PP_COLUMN_NO_SUM,
	       "instances: when it was entered, since the start of the capture; none: never"},
    [ENTRY] = {"entry", "entered at", PP_TYPE_TEXT, PP_COLUMN_KEY,
	       "the call site that obtained the lock, or gave it up"},
    [EXIT] = {"exit", "left at", PP_TYPE_TEXT, PP_COLUMN_KEY,
	      "the call site that released it; none: not known"},
    [APWT] = {"apwt_ns", "APWT", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
	      "all-path wait time: for which others waited for it"},
    [INSTANCES] = {"instances", "instances", PP_TYPE_COUNT, 0, "times it was executed"},
    [HOLD] = {"hold_ns", "hold", PP_TYPE_TIME_NS, 0, "time in the section"},
    [PATH] = {"path", "called by", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_PATH,
	      "the functions of the path to the entry, innermost first"},
};

enum { FROM, TO, KIND, COUNT, WAIT, N_EDGE_COLUMNS };

static const char *const kinds[PP_N_DEPENDENCE_EDGE_KINDS] = {
    [PP_DEPENDENCE_DIRECT] = "direct",
    [PP_DEPENDENCE_INDIRECT] = "indirect",
    [PP_DEPENDENCE_NESTED] = "nested",
    [PP_DEPENDENCE_BARRIER] = "barrier",
};

static const struct pp_column edge_columns[N_EDGE_COLUMNS] = {
    [FROM] = {"from", "from", PP_TYPE_COUNT, PP_COLUMN_ID, "the node that was waited for"},
    [TO] = {"to", "to", PP_TYPE_COUNT, PP_COLUMN_ID, "the node that waited"},
    [KIND] = {"kind", "kind", PP_TYPE_TEXT, PP_COLUMN_KEY,
	      "direct: it held the lock when the wait began; indirect: it obtained the lock during "
	      "the wait; nested: the holder waited for it; barrier: it arrived later"},
    [COUNT] = {"count", "count", PP_TYPE_COUNT, 0, "pairs of instances"},
    [WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "time waited"},
};

struct pass {
	const struct pp_pass_context *context;
	struct pp_dependence *dependence;
};

struct edge {
	guint from, to;
	enum pp_dependence_edge_kind kind;
	uint64_t count;
	int64_t wait_ns;
};

struct graph {
	const struct pass *pass;
	struct pp_sydg_rows *rows;
	GPtrArray *sections;  /* of struct pp_sydg_row *, by rank */
	GPtrArray *instances; /* of const struct pp_dependence_instance *, by time; NULL: none */
	GHashTable *numbers;  /* a row or an instance -> its number, from 1 on */
	GArray *edges;	      /* of struct edge */
	bool has_nobody;
};

/* --- numbers -------------------------------------------------------------------------------- */

static gint by_apwt(gconstpointer a, gconstpointer b)
{
	return pp_sydg_row_compare(*(struct pp_sydg_row *const *)a,
				   *(struct pp_sydg_row *const *)b);
}

static int compare_ns(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* Those that were never entered come last. */
static gint by_time(gconstpointer a, gconstpointer b)
{
	const struct pp_dependence_instance *x = *(const struct pp_dependence_instance *const *)a;
	const struct pp_dependence_instance *y = *(const struct pp_dependence_instance *const *)b;
	bool has_x = x->since_ns != PP_TIME_UNKNOWN, has_y = y->since_ns != PP_TIME_UNKNOWN;

	if (has_x != has_y)
		return has_x ? -1 : 1;
	if (has_x && x->since_ns != y->since_ns)
		return compare_ns(x->since_ns, y->since_ns);
	return compare_ns(x->thread->serial, y->thread->serial);
}

static void number(struct graph *graph, const GPtrArray *all)
{
	for (guint i = 0; i < all->len; i++)
		g_hash_table_insert(graph->numbers, all->pdata[i], GUINT_TO_POINTER(i + 1));
}

static guint number_of(const struct graph *graph, const void *row_or_instance)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(graph->numbers, row_or_instance));
}

static guint rank_of(const struct graph *graph, const struct pp_section *section)
{
	return number_of(graph, pp_sydg_row_of(graph->rows, section));
}

/* --- edges ---------------------------------------------------------------------------------- */

static void name_ends(void *data, const struct pp_dependence_end *from,
		      const struct pp_dependence_end *to, enum pp_dependence_edge_kind kind,
		      uint64_t count, int64_t cost_ns)
{
	struct graph *graph = data;

	(void)kind;
	(void)count;
	(void)cost_ns;
	pp_sydg_rows_name(graph->rows, from->section);
	pp_sydg_rows_name(graph->rows, to->section);
}

/* Waiters that never obtained a lock have sections without instances. */
static void make_rows(void *data, const struct pp_dependence_end *from,
		      const struct pp_dependence_end *to, enum pp_dependence_edge_kind kind,
		      uint64_t count, int64_t cost_ns)
{
	struct graph *graph = data;

	(void)kind;
	(void)count;
	(void)cost_ns;
	if (from->section)
		pp_sydg_row_of(graph->rows, from->section);
	if (to->section)
		pp_sydg_row_of(graph->rows, to->section);
}

static guint end_number(const struct graph *graph, const struct pp_dependence_end *end)
{
	if (!end->section)
		return NOBODY;
	return graph->instances ? number_of(graph, end->instance) : rank_of(graph, end->section);
}

static void take_edge(void *data, const struct pp_dependence_end *from,
		      const struct pp_dependence_end *to, enum pp_dependence_edge_kind kind,
		      uint64_t count, int64_t cost_ns)
{
	struct graph *graph = data;
	const struct edge edge = {end_number(graph, from), end_number(graph, to), kind, count,
				  cost_ns};

	graph->has_nobody |= edge.from == NOBODY || edge.to == NOBODY;
	g_array_append_val(graph->edges, edge);
}

static gint by_ends(gconstpointer a, gconstpointer b)
{
	const struct edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

static gint by_wait(gconstpointer a, gconstpointer b)
{
	const struct edge *x = a, *y = b;

	return x->wait_ns != y->wait_ns ? compare_ns(y->wait_ns, x->wait_ns) : by_ends(a, b);
}

/* Several sections that read alike are one node. */
static void join_edges(GArray *edges)
{
	guint n = 0;

	g_array_sort(edges, by_ends);
	for (guint i = 0; i < edges->len; i++) {
		struct edge *edge = &g_array_index(edges, struct edge, i);
		struct edge *last = n ? &g_array_index(edges, struct edge, n - 1) : NULL;

		if (last && by_ends(last, edge) == 0) {
			last->count += edge->count;
			last->wait_ns += edge->wait_ns;
		} else {
			g_array_index(edges, struct edge, n++) = *edge;
		}
	}
	g_array_set_size(edges, n);
	g_array_sort(edges, by_wait);
}

static struct pp_table *edges_table(const struct graph *graph)
{
	struct pp_table *table = pp_table_new("edges", "Waits", edge_columns, N_EDGE_COLUMNS);

	for (guint i = 0; i < graph->edges->len; i++) {
		const struct edge *edge = &g_array_index(graph->edges, struct edge, i);
		struct pp_cell *cells = pp_table_add_row(table);

		pp_cell_set_count(&cells[FROM], edge->from);
		pp_cell_set_count(&cells[TO], edge->to);
		pp_cell_set_text(&cells[KIND], kinds[edge->kind]);
		pp_cell_set_count(&cells[COUNT], edge->count);
		pp_cell_set_time(&cells[WAIT], edge->wait_ns);
	}
	return table;
}

/* --- nodes ---------------------------------------------------------------------------------- */

static void put_code(struct pp_cell *cells, const struct pp_sydg_row *row)
{
	pp_cell_set_text(&cells[ENTRY], row->entry);
	pp_cell_set_text(&cells[EXIT], row->exit);
	pp_cell_set_text(&cells[PATH], row->path);
}

static void put_process(struct pp_cell *cells, const struct pp_process *process)
{
	pp_cell_set_count(&cells[PID], process->pid);
	pp_cell_set_count(&cells[IMAGE], process->image);
}

static void put_section(struct pp_table *table, const struct graph *graph, guint i)
{
	const struct pp_sydg_row *row = graph->sections->pdata[i];
	struct pp_cell *cells = pp_table_add_row(table);
	g_autofree char *name = g_strdup_printf("CS%u", i + 1), *lock = NULL;

	pp_cell_set_count(&cells[ID], i + 1);
	pp_cell_set_text(&cells[NAME], name);
	put_code(cells, row);
	pp_cell_set_time(&cells[APWT], row->all_paths.ns[PP_DEPENDENCE_WALL]);
	pp_cell_set_count(&cells[INSTANCES], row->n);
	pp_cell_set_time(&cells[HOLD], row->hold_ns);
	put_process(cells, row->process);
	if (!row->object)
		return;
	lock = pp_object_group(row->object, graph->pass->context->namer);
	pp_cell_set_text(&cells[BOX], lock);
	pp_cell_set_text(&cells[LOCK], lock);
	pp_cell_set_text(&cells[TYPE], pp_sync_type_name(row->object->type));
}

static int64_t waits_for(const struct graph *graph, guint number)
{
	int64_t ns = 0;

	for (guint i = 0; i < graph->edges->len; i++) {
		const struct edge *edge = &g_array_index(graph->edges, struct edge, i);

		ns += edge->from == number ? edge->wait_ns : 0;
	}
	return ns;
}

static void put_instance(struct pp_table *table, const struct graph *graph, guint i)
{
	const struct pp_dependence_instance *instance = graph->instances->pdata[i];
	const struct pp_model *model = graph->pass->context->model;
	struct pp_cell *cells = pp_table_add_row(table);
	g_autofree char *name =
	    g_strdup_printf("d%u, CS%u", i + 1, rank_of(graph, instance->section));
	g_autofree char *thread = pp_thread_label(instance->thread);
	g_autofree char *box = g_strdup_printf("%s (tid %u)", thread, instance->thread->tid);

	pp_cell_set_count(&cells[ID], i + 1);
	pp_cell_set_text(&cells[NAME], name);
	put_process(cells, instance->thread->process);
	pp_cell_set_text(&cells[BOX], box);
	pp_cell_set_text(&cells[LOCK], instance->lock);
	pp_cell_set_text(&cells[TYPE], pp_sync_type_name(instance->type));
	pp_cell_set_text(&cells[THREAD], thread);
	pp_cell_set_count(&cells[TID], instance->thread->tid);
	if (instance->since_ns != PP_TIME_UNKNOWN)
		pp_cell_set_time(&cells[SINCE], instance->since_ns - pp_model_origin(model));
	put_code(cells, pp_sydg_row_of(graph->rows, instance->section));
	pp_cell_set_time(&cells[APWT], waits_for(graph, i + 1));
}

static struct pp_table *nodes_table(const struct graph *graph)
{
	struct pp_table *table = pp_table_new("nodes", "Nodes", node_columns, N_NODE_COLUMNS);
	const GPtrArray *all = graph->instances ? graph->instances : graph->sections;

	for (guint i = 0; i < all->len; i++)
		if (graph->instances)
			put_instance(table, graph, i);
		else
			put_section(table, graph, i);
	if (graph->has_nobody) {
		struct pp_cell *cells = pp_table_add_row(table);

		pp_cell_set_count(&cells[ID], NOBODY);
		pp_cell_set_text(&cells[NAME], "?");
	}
	return table;
}

/* -------------------------------------------------------------------------------------------- */

static bool is_part(const struct pass *pass)
{
	return pp_selects_by(pass->context, PP_SELECT_TIME);
}

static void *sydg_start(const struct pp_pass_context *context)
{
	struct pass *self = g_new0(struct pass, 1);

	self->context = context;
	self->dependence = pp_dependence_new(context);
	pp_dependence_want_edges(self->dependence, is_part(self) ? MAX_INSTANCES : 0);
	return self;
}

static void sydg_event(void *state, const struct pp_event *event)
{
	struct pass *self = state;

	pp_dependence_event(self->dependence, event);
}

static void number_nodes(struct graph *graph)
{
	const GPtrArray *instances = pp_dependence_instances(graph->pass->dependence);

	pp_dependence_walk_edges(graph->pass->dependence, name_ends, graph);
	pp_sydg_rows_fill(graph->rows, graph->pass->dependence);
	pp_dependence_walk_edges(graph->pass->dependence, make_rows, graph);
	graph->sections = pp_sydg_rows_all(graph->rows);
	g_ptr_array_sort(graph->sections, by_apwt);
	number(graph, graph->sections);
	if (!instances)
		return;
	graph->instances = g_ptr_array_new();
	for (guint i = 0; i < instances->len; i++)
		g_ptr_array_add(graph->instances, instances->pdata[i]);
	g_ptr_array_sort(graph->instances, by_time);
	number(graph, graph->instances);
}

static void sydg_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct pass *self = state;
	struct graph graph = {
	    .pass = self,
	    .numbers = g_hash_table_new(NULL, NULL),
	    .edges = g_array_new(FALSE, FALSE, sizeof(struct edge)),
	};
	struct pp_table *edges;

	pp_dependence_finish(self->dependence, end_ns);
	graph.rows = pp_sydg_rows_new(self->context, self->dependence, PP_DEPENDENCE_WALL);
	number_nodes(&graph);
	pp_dependence_walk_edges(self->dependence, take_edge, &graph);
	join_edges(graph.edges);
	edges = edges_table(&graph);
	if (is_part(self) && !graph.instances)
		pp_table_note(edges,
			      "nodes are critical sections, since more than %d instances waited or "
			      "were waited for in this time",
			      MAX_INSTANCES);
	g_ptr_array_add(tables, nodes_table(&graph));
	g_ptr_array_add(tables, edges);
	pp_sydg_rows_free(graph.rows);
	g_ptr_array_unref(graph.sections);
	g_clear_pointer(&graph.instances, g_ptr_array_unref);
	g_hash_table_unref(graph.numbers);
	g_array_unref(graph.edges);
}

static void sydg_free(void *state)
{
	struct pass *self = state;

	pp_dependence_free(self->dependence);
	g_free(self);
}

const struct pp_pass pp_pass_sydg = {
    .name = "sydg",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_TIME,
    .has_operations = true,
    .start = sydg_start,
    .event = sydg_event,
    .finish = sydg_finish,
    .free = sydg_free,
};
