/* SPDX-License-Identifier: MIT */
/*
 * See dot.h.  Threads become nodes, or groups of threads do; edges between the same two nodes are
 * then one.  A node's place in `nodes` is its name in the DOT text: n0, n1, ...
 */
#include "render/dot.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/printable.h"

/* With more edges than these, their labels hide each other: the count alone then. */
#define MAX_SITE_LABELS	  24
#define MAX_TOOLTIP_SITES 8
#define MAX_PEN		  5.0

struct node {
	char *key; /* "pid/index", or the group's */
	char *name;
	uint64_t tid, n_threads;
	bool has_edges;
};

struct edge {
	struct node *from, *to;
	uint64_t count;
	GHashTable *sites; /* text -> uint64_t *, how often */
};

struct graph {
	const struct pp_dot_options *options;
	GPtrArray *nodes;    /* of struct node * */
	GHashTable *node_of; /* "pid/index" -> struct node * */
	GPtrArray *edges;    /* of struct edge * */
	GHashTable *edge_of; /* "from key>to key" -> struct edge * */
	uint64_t thin_edges, thin_switches, lone_nodes;
};

static void node_free(void *data)
{
	struct node *node = data;

	g_free(node->key);
	g_free(node->name);
	g_free(node);
}

static void edge_free(void *data)
{
	struct edge *edge = data;

	g_hash_table_unref(edge->sites);
	g_free(edge);
}

static const struct pp_cell *cell_of(const struct pp_table *table, const struct pp_cell *row,
				     const char *key)
{
	return &row[pp_table_column(table, key)];
}

static uint64_t count_of(const struct pp_table *table, const struct pp_cell *row, const char *key)
{
	const struct pp_cell *cell = cell_of(table, row, key);

	return cell->missing ? 0 : cell->count;
}

static const char *text_of(const struct pp_table *table, const struct pp_cell *row, const char *key)
{
	const struct pp_cell *cell = cell_of(table, row, key);

	return cell->missing ? NULL : cell->text;
}

static char *thread_key(uint64_t pid, uint64_t image, uint64_t index)
{
	return g_strdup_printf("%" PRIu64 ".%" PRIu64 "/%" PRIu64, pid, image, index);
}

/* --- nodes ---------------------------------------------------------------------------------- */

static struct node *find_node(const struct graph *graph, const char *key)
{
	for (guint i = 0; i < graph->nodes->len; i++) {
		struct node *node = graph->nodes->pdata[i];

		if (strcmp(node->key, key) == 0)
			return node;
	}
	return NULL;
}

static void add_node(struct graph *graph, const struct pp_table *table, const struct pp_cell *row)
{
	uint64_t pid = count_of(table, row, "pid");
	uint64_t image = count_of(table, row, "image");
	char *own_key = thread_key(pid, image, count_of(table, row, "index"));
	const char *group = graph->options->grouped ? text_of(table, row, "group") : NULL;
	const char *name = group ? group : text_of(table, row, "name");
	g_autofree char *key =
	    group ? g_strdup_printf("%" PRIu64 ".%" PRIu64 ":%s", pid, image, group)
		  : g_strdup(own_key);
	struct node *node = group ? find_node(graph, key) : NULL;

	if (!node) {
		node = g_new0(struct node, 1);
		node->key = g_steal_pointer(&key);
		node->name = g_strdup(name ? name : "");
		node->tid = count_of(table, row, "tid");
		g_ptr_array_add(graph->nodes, node);
	}
	node->n_threads++;
	g_hash_table_insert(graph->node_of, own_key, node);
}

static struct node *end_of_edge(const struct graph *graph, const struct pp_table *table,
				const struct pp_cell *row, const char *pid, const char *image,
				const char *index)
{
	g_autofree char *key = thread_key(count_of(table, row, pid), count_of(table, row, image),
					  count_of(table, row, index));

	return g_hash_table_lookup(graph->node_of, key);
}

/* --- edges ---------------------------------------------------------------------------------- */

static struct edge *edge_between(struct graph *graph, struct node *from, struct node *to)
{
	char *key = g_strdup_printf("%s>%s", from->key, to->key);
	struct edge *edge = g_hash_table_lookup(graph->edge_of, key);

	if (edge) {
		g_free(key);
		return edge;
	}
	edge = g_new0(struct edge, 1);
	edge->from = from;
	edge->to = to;
	edge->sites = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_hash_table_insert(graph->edge_of, key, edge);
	g_ptr_array_add(graph->edges, edge);
	return edge;
}

static void add_sites(struct edge *edge, const struct pp_table *sites)
{
	for (guint i = 0; i < sites->rows->len; i++) {
		const struct pp_cell *row = sites->rows->pdata[i];
		const char *function = text_of(sites, row, "function");
		const char *site = text_of(sites, row, "site");
		g_autofree char *text = function && strcmp(function, site) != 0
					    ? g_strdup_printf("%s in %s", function, site)
					    : g_strdup(site);
		uint64_t *count = g_hash_table_lookup(edge->sites, text);

		if (!count) {
			count = g_new0(uint64_t, 1);
			g_hash_table_insert(edge->sites, g_steal_pointer(&text), count);
		}
		*count += count_of(sites, row, "count");
	}
}

static void add_edge(struct graph *graph, const struct pp_table *table, const struct pp_cell *row)
{
	struct node *from = end_of_edge(graph, table, row, "from_pid", "from_image", "from_index");
	struct node *to = end_of_edge(graph, table, row, "to_pid", "to_image", "to_index");
	const struct pp_cell *sites = cell_of(table, row, "sites");
	struct edge *edge;

	if (!from || !to)
		return;
	edge = edge_between(graph, from, to);
	edge->count += count_of(table, row, "count");
	if (!sites->missing)
		add_sites(edge, sites->table);
}

/* What is too thin goes; nodes that have no edge left go with it. */
static void leave_out(struct graph *graph)
{
	for (guint i = graph->edges->len; i-- > 0;) {
		struct edge *edge = graph->edges->pdata[i];

		if (edge->count < graph->options->min_count) {
			graph->thin_edges++;
			graph->thin_switches += edge->count;
			g_ptr_array_remove_index(graph->edges, i);
			continue;
		}
		edge->from->has_edges = true;
		edge->to->has_edges = true;
	}
	for (guint i = 0; i < graph->nodes->len; i++) {
		const struct node *node = graph->nodes->pdata[i];

		graph->lone_nodes += !node->has_edges;
	}
}

/* --- text ----------------------------------------------------------------------------------- */

/* As the inside of a quoted DOT string. */
static void append_quoted(GString *to, const char *text)
{
	g_autofree char *shown = pp_printable(g_strdup(text));

	for (const char *p = shown; *p; p++) {
		if (*p == '"' || *p == '\\')
			g_string_append_c(to, '\\');
		g_string_append_c(to, *p);
	}
}

static void append_node(GString *to, const struct node *node, guint number)
{
	g_string_append_printf(to, "\tn%u [label=\"", number);
	append_quoted(to, node->name);
	if (node->n_threads > 1)
		g_string_append_printf(to, "\\n%" PRIu64 " threads\", shape=doubleoctagon",
				       node->n_threads);
	else
		g_string_append_printf(to, "\\n%" PRIu64 "\"", node->tid);
	g_string_append(to, "];\n");
}

struct site {
	const char *text;
	uint64_t count;
};

static gint compare_sites(gconstpointer a, gconstpointer b)
{
	const struct site *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->text, y->text);
}

static GArray *sorted_sites(const struct edge *edge)
{
	GArray *sites = g_array_new(FALSE, FALSE, sizeof(struct site));
	GHashTableIter iter;
	void *text, *count;

	g_hash_table_iter_init(&iter, edge->sites);
	while (g_hash_table_iter_next(&iter, &text, &count)) {
		struct site site = {text, *(uint64_t *)count};

		g_array_append_val(sites, site);
	}
	g_array_sort(sites, compare_sites);
	return sites;
}

static void append_tooltip(GString *to, const GArray *sites)
{
	g_string_append(to, ", tooltip=\"");
	for (guint i = 0; i < sites->len && i < MAX_TOOLTIP_SITES; i++) {
		const struct site *site = &g_array_index(sites, struct site, i);

		g_string_append_printf(to, "%s%" PRIu64 " ", i ? "\\n" : "", site->count);
		append_quoted(to, site->text);
	}
	if (sites->len > MAX_TOOLTIP_SITES)
		g_string_append_printf(to, "\\nand %u more places", sites->len - MAX_TOOLTIP_SITES);
	g_string_append_c(to, '"');
}

static void append_edge(GString *to, const struct graph *graph, const struct edge *edge,
			uint64_t max_count)
{
	g_autoptr(GArray) sites = sorted_sites(edge);
	guint from, to_number;

	g_ptr_array_find(graph->nodes, edge->from, &from);
	g_ptr_array_find(graph->nodes, edge->to, &to_number);
	g_string_append_printf(to, "\tn%u -> n%u [label=\"%" PRIu64, from, to_number, edge->count);
	if (sites->len && graph->edges->len <= MAX_SITE_LABELS) {
		g_string_append(to, "\\n");
		append_quoted(to, g_array_index(sites, struct site, 0).text);
	}
	g_string_append_c(to, '"');
	if (sites->len)
		append_tooltip(to, sites);
	g_string_append_printf(to, ", penwidth=%.1f];\n",
			       1 + (MAX_PEN - 1) * (double)edge->count / (double)max_count);
}

/* What the arrows mean, and all that is not shown. */
static void append_caption(GString *to, const struct graph *graph, const struct pp_table *edges)
{
	g_string_append(to, "\tlabel=\"A -> B: how often B ran next on the CPU that A left");
	if (graph->options->grouped)
		g_string_append(to, "\\nthreads of one start routine or name are drawn together");
	if (graph->thin_edges)
		g_string_append_printf(to,
				       "\\nleft out: %" PRIu64 " arrows of less than %" PRIu64
				       ", %" PRIu64 " switches in all",
				       graph->thin_edges, graph->options->min_count,
				       graph->thin_switches);
	if (graph->lone_nodes)
		g_string_append_printf(to, "\\nleft out: %" PRIu64 " without arrows",
				       graph->lone_nodes);
	for (guint i = 0; i < edges->notes->len; i++) {
		g_string_append(to, "\\n");
		append_quoted(to, edges->notes->pdata[i]);
	}
	g_string_append(to, "\";\n");
}

static void append_graph(GString *to, const struct graph *graph, const struct pp_table *edges)
{
	uint64_t max_count = 1;

	for (guint i = 0; i < graph->edges->len; i++)
		max_count = MAX(max_count, ((struct edge *)graph->edges->pdata[i])->count);
	g_string_append(to, "digraph switches {\n"
			    "\tgraph [rankdir=LR, labelloc=b, fontname=\"sans-serif\"];\n"
			    "\tnode [shape=ellipse, fontname=\"sans-serif\"];\n"
			    "\tedge [fontname=\"sans-serif\", fontsize=10];\n");
	append_caption(to, graph, edges);
	for (guint i = 0; i < graph->nodes->len; i++) {
		const struct node *node = graph->nodes->pdata[i];

		if (node->has_edges)
			append_node(to, node, i);
	}
	for (guint i = 0; i < graph->edges->len; i++)
		append_edge(to, graph, graph->edges->pdata[i], max_count);
	g_string_append(to, "}\n");
}

void pp_render_dot(GString *to, const struct pp_table *nodes, const struct pp_table *edges,
		   const struct pp_dot_options *options)
{
	struct graph graph = {
	    .options = options,
	    .nodes = g_ptr_array_new_with_free_func(node_free),
	    .node_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
	    .edges = g_ptr_array_new_with_free_func(edge_free),
	    .edge_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
	};

	for (guint i = 0; i < nodes->rows->len; i++)
		add_node(&graph, nodes, nodes->rows->pdata[i]);
	for (guint i = 0; i < edges->rows->len; i++)
		add_edge(&graph, edges, edges->rows->pdata[i]);
	leave_out(&graph);
	append_graph(to, &graph, edges);
	g_hash_table_unref(graph.edge_of);
	g_ptr_array_unref(graph.edges);
	g_hash_table_unref(graph.node_of);
	g_ptr_array_unref(graph.nodes);
}
