/* SPDX-License-Identifier: MIT */
/*
 * See dot.h.  Each row, or each group of rows, becomes a node.  Edges between the same two nodes
 * are joined.  A node's position in `nodes` gives its name in the DOT text: n0, n1, ...
 */
#include "render/dot.h"

#include <inttypes.h>
#include <string.h>

#include "core/text/duration.h"
#include "core/text/printable.h"
#include "render/dot_table.h"

/* With more edges, full labels would overlap, so only amounts are shown. */
#define MAX_DETAIL_LABELS   24
#define MAX_TOOLTIP_DETAILS 8
#define MAX_PEN		    5.0

struct node {
	char *key, *label;
	char *alone;	       /* label of an ungrouped node */
	char *box, *box_label; /* NULL: not in a box */
	uint64_t n_members;
	bool has_edges;
};

/* A count, and for kinds weighted by time, a duration. */
struct amount {
	uint64_t count, weight;
};

struct edge {
	struct node *from, *to;
	struct amount amount;
	unsigned style, serial;
	GHashTable *details; /* text -> struct amount * */
};

struct graph {
	const struct pp_dot_kind *kind;
	const struct pp_dot_options *options;
	bool grouped, has_images; /* has_images: nodes of several processes or images */
	GPtrArray *nodes;	  /* of struct node * */
	GHashTable *node_of;	  /* key of a row -> struct node * */
	GHashTable *group_of;	  /* key of a group -> struct node * */
	GPtrArray *edges;	  /* of struct edge * */
	GHashTable *edge_of;	  /* "from>to>apart" -> struct edge * */
	struct pp_dot_left thin, beyond;
	uint64_t lone_nodes;
};

static void node_free(void *data)
{
	struct node *node = data;

	g_free(node->key);
	g_free(node->label);
	g_free(node->alone);
	g_free(node->box);
	g_free(node->box_label);
	g_free(node);
}

static void edge_free(void *data)
{
	struct edge *edge = data;

	g_hash_table_unref(edge->details);
	g_free(edge);
}

/* --- nodes ---------------------------------------------------------------------------------- */

static char *label_of(const struct graph *graph, const struct pp_table *table,
		      const struct pp_cell *row, const char *const *columns, bool in_box)
{
	g_autofree char *label = pp_dot_cells(table, row, columns, "\n", NULL);

	if (!graph->has_images || in_box)
		return g_steal_pointer(&label);
	return g_strdup_printf("%s\nprocess %" PRIu64, label, pp_dot_amount(table, row, "pid"));
}

static struct node *node_new(const struct graph *graph, const struct pp_table *table,
			     const struct pp_cell *row, bool in_group)
{
	const struct pp_dot_kind *kind = graph->kind;
	const char *const *box_key = in_group ? kind->group_box_key : kind->box_key;
	struct node *node = g_new0(struct node, 1);

	node->alone = label_of(graph, table, row, kind->label, box_key);
	if (in_group)
		node->label = label_of(graph, table, row, kind->group_label, box_key);
	if (box_key && pp_dot_has(table, row, box_key)) {
		node->box = pp_dot_cells(table, row, box_key, "/", "-");
		node->box_label = pp_dot_cells(
		    table, row, in_group ? kind->group_box_label : kind->box_label, "\n", NULL);
	}
	return node;
}

static void add_node(struct graph *graph, const struct pp_table *table, const struct pp_cell *row)
{
	const struct pp_dot_kind *kind = graph->kind;
	bool in_group = graph->grouped && pp_dot_has(table, row, kind->group_key);
	char *own_key = pp_dot_cells(table, row, kind->node_key, "/", "-");
	g_autofree char *key =
	    in_group ? pp_dot_cells(table, row, kind->group_key, "/", "-") : NULL;
	struct node *node = key ? g_hash_table_lookup(graph->group_of, key) : NULL;

	if (!node) {
		node = node_new(graph, table, row, in_group);
		node->key = g_strdup_printf("%u", graph->nodes->len);
		g_ptr_array_add(graph->nodes, node);
		if (key)
			g_hash_table_insert(graph->group_of, g_steal_pointer(&key), node);
	}
	node->n_members++;
	g_hash_table_insert(graph->node_of, own_key, node);
}

static bool has_images(const struct pp_table *nodes)
{
	static const char *const image[] = {"pid", "image", NULL};
	g_autofree char *first = NULL;

	for (guint i = 0; i < nodes->rows->len; i++) {
		g_autofree char *this = NULL;

		if (!pp_dot_has(nodes, nodes->rows->pdata[i], image))
			continue;
		this = pp_dot_cells(nodes, nodes->rows->pdata[i], image, "/", "-");
		if (!first)
			first = g_steal_pointer(&this);
		else if (strcmp(first, this) != 0)
			return true;
	}
	return false;
}

/* --- edges ---------------------------------------------------------------------------------- */

static struct edge *edge_between(struct graph *graph, struct node *from, struct node *to,
				 const char *apart)
{
	char *key = g_strdup_printf("%s>%s>%s", from->key, to->key, apart ? apart : "");
	struct edge *edge = g_hash_table_lookup(graph->edge_of, key);

	if (edge) {
		g_free(key);
		return edge;
	}
	edge = g_new0(struct edge, 1);
	edge->from = from;
	edge->to = to;
	edge->serial = graph->edges->len;
	edge->details = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_hash_table_insert(graph->edge_of, key, edge);
	g_ptr_array_add(graph->edges, edge);
	return edge;
}

static void add_details(const struct graph *graph, struct edge *edge,
			const struct pp_table *details)
{
	for (guint i = 0; i < details->rows->len; i++) {
		const struct pp_cell *row = details->rows->pdata[i];
		char *text = graph->kind->detail(details, row);
		struct amount *amount = g_hash_table_lookup(edge->details, text);

		if (amount) {
			g_free(text);
		} else {
			amount = g_new0(struct amount, 1);
			g_hash_table_insert(edge->details, text, amount);
		}
		amount->count += pp_dot_amount(details, row, "count");
		amount->weight += pp_dot_amount(details, row, graph->kind->detail_weight);
	}
}

static void add_edge(struct graph *graph, const struct pp_table *table, const struct pp_cell *row)
{
	const struct pp_dot_kind *kind = graph->kind;
	g_autofree char *from_key = pp_dot_cells(table, row, kind->from_key, "/", "-");
	g_autofree char *to_key = pp_dot_cells(table, row, kind->to_key, "/", "-");
	struct node *from = g_hash_table_lookup(graph->node_of, from_key);
	struct node *to = g_hash_table_lookup(graph->node_of, to_key);
	const struct pp_cell *details =
	    kind->details ? pp_dot_cell(table, row, kind->details) : NULL;
	struct edge *edge;

	if (!from || !to)
		return;
	edge = edge_between(graph, from, to,
			    kind->apart ? pp_dot_text(table, row, kind->apart) : NULL);
	edge->amount.count += pp_dot_amount(table, row, "count");
	edge->amount.weight += pp_dot_amount(table, row, kind->weight);
	if (kind->style)
		edge->style = MAX(edge->style, kind->style(table, row));
	if (details)
		add_details(graph, edge, details->table);
}

static bool is_kept(const struct pp_dot_kind *kind, unsigned style)
{
	return kind->kept_style && style >= kind->kept_style;
}

static gint compare_edges(gconstpointer a, gconstpointer b, void *data)
{
	const struct edge *x = *(const struct edge *const *)a, *y = *(const struct edge *const *)b;
	const struct graph *graph = data;
	bool keep_x = is_kept(graph->kind, x->style), keep_y = is_kept(graph->kind, y->style);

	if (keep_x != keep_y)
		return keep_x ? -1 : 1;
	if (x->amount.weight != y->amount.weight)
		return x->amount.weight < y->amount.weight ? 1 : -1;
	return x->serial < y->serial ? -1 : 1;
}

/* Decides whether the edge, the at-th by weight, is left out, and counts it. */
static bool leaves_out(struct pp_dot_left *thin, struct pp_dot_left *beyond,
		       const struct pp_dot_options *options, guint at, uint64_t count)
{
	struct pp_dot_left *left = count < options->min_count		? thin
				   : options->top && at >= options->top ? beyond
									: NULL;

	if (!left)
		return false;
	left->edges++;
	left->counted += count;
	return true;
}

/* Removes light edges, and nodes without edges. */
static void leave_out(struct graph *graph)
{
	guint n = 0;

	g_ptr_array_sort_with_data(graph->edges, compare_edges, graph);
	for (guint i = 0; i < graph->edges->len; i++) {
		struct edge *edge = graph->edges->pdata[i];

		if (!is_kept(graph->kind, edge->style) &&
		    leaves_out(&graph->thin, &graph->beyond, graph->options, n,
			       edge->amount.count)) {
			edge_free(edge);
			continue;
		}
		edge->from->has_edges = true;
		edge->to->has_edges = true;
		graph->edges->pdata[n++] = edge;
	}
	graph->edges->len = n;
	for (guint i = 0; i < graph->nodes->len; i++)
		graph->lone_nodes += !((const struct node *)graph->nodes->pdata[i])->has_edges;
}

void pp_dot_leave_out(struct pp_table *edges, const struct pp_dot_kind *kind,
		      const struct pp_dot_options *options)
{
	struct pp_dot_left thin = {0}, beyond = {0};
	guint n = 0;

	for (guint r = 0; r < edges->rows->len;) {
		const struct pp_cell *row = edges->rows->pdata[r];

		if (!(kind->style && is_kept(kind, kind->style(edges, row))) &&
		    leaves_out(&thin, &beyond, options, n, pp_dot_amount(edges, row, "count"))) {
			pp_table_remove_row(edges, r);
			continue;
		}
		n++;
		r++;
	}
	if (thin.edges) {
		g_autofree char *text =
		    pp_dot_thin_text(&thin, options->min_count, "edges", kind->counted);

		pp_table_note(edges, "%s", text);
	}
	if (beyond.edges) {
		g_autofree char *text =
		    pp_dot_beyond_text(&beyond, options->top, "edges", kind->counted);

		pp_table_note(edges, "%s", text);
	}
}

/* --- text ----------------------------------------------------------------------------------- */

/* Escapes text for a quoted DOT string; newlines are kept in the picture. */
static void append_quoted(GString *to, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line; line++) {
		g_autofree char *shown = pp_printable(g_strdup(*line));

		if (line != lines)
			g_string_append(to, "\\n");
		for (const char *p = shown; *p; p++) {
			if (*p == '"' || *p == '\\')
				g_string_append_c(to, '\\');
			g_string_append_c(to, *p);
		}
	}
}

static void append_node(GString *to, const struct graph *graph, const struct node *node,
			const char *indent)
{
	g_string_append_printf(to, "%sn%s [label=\"", indent, node->key);
	append_quoted(to, node->n_members > 1 ? node->label : node->alone);
	if (node->n_members > 1)
		g_string_append_printf(to, "\\n%" PRIu64 " %s\", peripheries=2", node->n_members,
				       graph->kind->members);
	else
		g_string_append_c(to, '"');
	g_string_append(to, "];\n");
}

static void append_box(GString *to, const struct graph *graph, GPtrArray *members, guint number)
{
	const struct node *first = members->pdata[0];

	g_string_append_printf(to, "\tsubgraph cluster%u {\n\t\tlabel=\"", number);
	append_quoted(to, first->box_label);
	g_string_append(to, "\";\n");
	for (guint i = 0; i < members->len; i++)
		append_node(to, graph, members->pdata[i], "\t\t");
	g_string_append(to, "\t}\n");
}

static void append_nodes(GString *to, const struct graph *graph)
{
	g_autoptr(GHashTable) box_of = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GPtrArray) boxes =
	    g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);

	for (guint i = 0; i < graph->nodes->len; i++) {
		struct node *node = graph->nodes->pdata[i];
		GPtrArray *box = node->box ? g_hash_table_lookup(box_of, node->box) : NULL;

		if (!node->has_edges)
			continue;
		if (!node->box) {
			append_node(to, graph, node, "\t");
			continue;
		}
		if (!box) {
			box = g_ptr_array_new();
			g_ptr_array_add(boxes, box);
			g_hash_table_insert(box_of, node->box, box);
		}
		g_ptr_array_add(box, node);
	}
	for (guint i = 0; i < boxes->len; i++)
		append_box(to, graph, boxes->pdata[i], i);
}

struct detail {
	const char *text;
	struct amount amount;
};

static gint compare_details(gconstpointer a, gconstpointer b)
{
	const struct detail *x = a, *y = b;

	if (x->amount.weight != y->amount.weight)
		return x->amount.weight < y->amount.weight ? 1 : -1;
	return strcmp(x->text, y->text);
}

static GArray *sorted_details(const struct edge *edge)
{
	GArray *details = g_array_new(FALSE, FALSE, sizeof(struct detail));
	GHashTableIter iter;
	void *text, *amount;

	g_hash_table_iter_init(&iter, edge->details);
	while (g_hash_table_iter_next(&iter, &text, &amount)) {
		struct detail detail = {text, *(struct amount *)amount};

		g_array_append_val(details, detail);
	}
	g_array_sort(details, compare_details);
	return details;
}

/* Appends "12", or "3.4 ms (12)" for kinds weighted by time. */
static void append_amount(GString *to, const struct graph *graph, const struct amount *amount)
{
	g_autofree char *time = NULL;

	if (strcmp(graph->kind->weight, "count") == 0) {
		g_string_append_printf(to, "%" PRIu64, amount->count);
		return;
	}
	time = pp_duration_text((int64_t)amount->weight);
	g_string_append_printf(to, "%s (%" PRIu64 ")", time, amount->count);
}

static void append_tooltip(GString *to, const struct graph *graph, const GArray *details)
{
	g_string_append(to, ", tooltip=\"");
	for (guint i = 0; i < details->len && i < MAX_TOOLTIP_DETAILS; i++) {
		const struct detail *detail = &g_array_index(details, struct detail, i);

		if (i)
			g_string_append(to, "\\n");
		append_amount(to, graph, &detail->amount);
		g_string_append_c(to, ' ');
		append_quoted(to, detail->text);
	}
	if (details->len > MAX_TOOLTIP_DETAILS)
		g_string_append_printf(to, "\\nand %u more call site%s",
				       details->len - MAX_TOOLTIP_DETAILS,
				       details->len - MAX_TOOLTIP_DETAILS == 1 ? "" : "s");
	g_string_append_c(to, '"');
}

static void append_edge(GString *to, const struct graph *graph, const struct edge *edge,
			uint64_t max_weight)
{
	g_autoptr(GArray) details = sorted_details(edge);
	const char *style = graph->kind->styles[edge->style];

	g_string_append_printf(to, "\tn%s -> n%s [label=\"", edge->from->key, edge->to->key);
	append_amount(to, graph, &edge->amount);
	if (details->len && graph->edges->len <= MAX_DETAIL_LABELS) {
		g_string_append(to, "\\n");
		append_quoted(to, g_array_index(details, struct detail, 0).text);
	}
	g_string_append_c(to, '"');
	if (details->len)
		append_tooltip(to, graph, details);
	if (style)
		g_string_append_printf(to, ", %s", style);
	g_string_append_printf(to, ", penwidth=%.1f];\n",
			       1 + (MAX_PEN - 1) * (double)edge->amount.weight /
				       (double)max_weight);
}

static void append_line(GString *to, const char *line)
{
	g_string_append(to, "\\n");
	append_quoted(to, line);
}

/* Appends the meaning of the arrows, and what was left out. */
static void append_caption(GString *to, const struct graph *graph, const struct pp_table *nodes,
			   const struct pp_table *edges)
{
	const struct pp_dot_kind *kind = graph->kind;
	const struct pp_dot_options *options = graph->options;
	g_autofree char *thin =
	    pp_dot_thin_text(&graph->thin, options->min_count, "arrows", kind->counted);
	g_autofree char *beyond =
	    pp_dot_beyond_text(&graph->beyond, options->top, "arrows", kind->counted);

	g_string_append(to, "\tlabel=\"");
	append_quoted(to, kind->meaning);
	if (graph->grouped) {
		g_autofree char *line =
		    g_strdup_printf("%s of one %s are drawn together", kind->members, kind->alike);

		append_line(to, line);
	}
	if (graph->thin.edges)
		append_line(to, thin);
	if (graph->beyond.edges)
		append_line(to, beyond);
	if (graph->lone_nodes)
		g_string_append_printf(to, "\\nleft out: %" PRIu64 " without arrows",
				       graph->lone_nodes);
	for (guint i = 0; i < nodes->notes->len; i++)
		if (!g_ptr_array_find_with_equal_func(edges->notes, nodes->notes->pdata[i],
						      g_str_equal, NULL))
			append_line(to, nodes->notes->pdata[i]);
	for (guint i = 0; i < edges->notes->len; i++)
		append_line(to, edges->notes->pdata[i]);
	g_string_append(to, "\";\n");
}

static void append_graph(GString *to, const struct graph *graph, const struct pp_table *nodes,
			 const struct pp_table *edges)
{
	const struct pp_dot_kind *kind = graph->kind;
	uint64_t max_weight = 1;

	for (guint i = 0; i < graph->edges->len; i++)
		max_weight =
		    MAX(max_weight, ((struct edge *)graph->edges->pdata[i])->amount.weight);
	g_string_append_printf(to,
			       "digraph %s {\n"
			       "\tgraph [%s, labelloc=b, fontname=\"sans-serif\"];\n"
			       "\tnode [shape=%s, fontname=\"sans-serif\"];\n"
			       "\tedge [fontname=\"sans-serif\", fontsize=10];\n",
			       kind->name, kind->layout, kind->shape);
	append_caption(to, graph, nodes, edges);
	append_nodes(to, graph);
	for (guint i = 0; i < graph->edges->len; i++)
		append_edge(to, graph, graph->edges->pdata[i], max_weight);
	g_string_append(to, "}\n");
}

void pp_render_dot(GString *to, const struct pp_dot_kind *kind, const struct pp_table *nodes,
		   const struct pp_table *edges, const struct pp_dot_options *options)
{
	struct graph graph = {
	    .kind = kind,
	    .options = options,
	    .grouped = options->grouped && kind->group_key,
	    .has_images = has_images(nodes),
	    .nodes = g_ptr_array_new_with_free_func(node_free),
	    .node_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
	    .group_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
	    .edges = g_ptr_array_new(),
	    .edge_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
	};

	for (guint i = 0; i < nodes->rows->len; i++)
		add_node(&graph, nodes, nodes->rows->pdata[i]);
	for (guint i = 0; i < edges->rows->len; i++)
		add_edge(&graph, edges, edges->rows->pdata[i]);
	leave_out(&graph);
	append_graph(to, &graph, nodes, edges);
	g_hash_table_unref(graph.edge_of);
	g_ptr_array_set_free_func(graph.edges, edge_free);
	g_ptr_array_unref(graph.edges);
	g_hash_table_unref(graph.group_of);
	g_hash_table_unref(graph.node_of);
	g_ptr_array_unref(graph.nodes);
}
