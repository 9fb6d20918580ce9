/* SPDX-License-Identifier: MIT */
/* The node and edge tables of the precedence graph. */
#include "analysis/state/object_row.h"
#include "pass/precedence/precedence.h"
#include "analysis/thread_cells.h"
#include "analysis/graph/thread_nodes.h"

enum {
	NODE_ID = PP_NODE_CELLS,
	NODE_FUNCTION,
	NODE_SITE,
	NODE_OBJECT,
	N_NODE_COLUMNS,
};

static const struct pp_column node_columns[N_NODE_COLUMNS] = {
    PP_NODE_COLUMNS,
    [NODE_ID] = {"id", "id", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,
		 "its number in this graph"},
    [NODE_FUNCTION] = {"function", "function", PP_TYPE_TEXT, PP_COLUMN_KEY, "called function"},
    [NODE_SITE] = {"site", "site", PP_TYPE_TEXT, PP_COLUMN_KEY, "where"},
    [NODE_OBJECT] = {"object", "object", PP_TYPE_TEXT, PP_COLUMN_KEY,
		     "the barrier that this node stands for"},
};

enum { OBJECT_COUNT = PP_OBJECT_CELLS, N_OBJECT_COLUMNS };

static const struct pp_column object_columns[N_OBJECT_COLUMNS] = {
    PP_OBJECT_COLUMNS,
    [OBJECT_COUNT] = {"count", "count", PP_TYPE_COUNT, 0, "how often"},
};

enum { EDGE_FROM, EDGE_TO, EDGE_KIND, EDGE_COUNT, EDGE_OBJECTS, N_EDGE_COLUMNS };

#define KINDS "mutex, spin, rwlock, sem, cond, barrier, once, create, join"

static const struct pp_column edge_columns[N_EDGE_COLUMNS] = {
    [EDGE_FROM] = {"from", "before", PP_TYPE_COUNT, PP_COLUMN_ID, "id of the node that came first"},
    [EDGE_TO] = {"to", "after", PP_TYPE_COUNT, PP_COLUMN_ID, "id of the node that came after it"},
    [EDGE_KIND] = {"kind", "kind", PP_TYPE_TEXT, PP_COLUMN_KEY, KINDS},
    [EDGE_COUNT] = {"count", "count", PP_TYPE_COUNT, 0, "how often"},
    [EDGE_OBJECTS] = {"objects", "objects", PP_TYPE_TABLE, PP_COLUMN_JSON_ONLY, "by what",
		      object_columns, N_OBJECT_COLUMNS},
};

static const char *const kinds[] = {
    [PP_PRECEDENCE_MUTEX] = "mutex",   [PP_PRECEDENCE_SPIN] = "spin",
    [PP_PRECEDENCE_RWLOCK] = "rwlock", [PP_PRECEDENCE_SEM] = "sem",
    [PP_PRECEDENCE_COND] = "cond",     [PP_PRECEDENCE_BARRIER] = "barrier",
    [PP_PRECEDENCE_ONCE] = "once",     [PP_PRECEDENCE_CREATE] = "create",
    [PP_PRECEDENCE_JOIN] = "join",
};

static bool is_shown(const struct pp_precedence *self, const struct pp_link *link)
{
	const struct pp_thread *from = pp_precedence_node(self, link->from)->thread;
	const struct pp_thread *to = pp_precedence_node(self, link->to)->thread;

	return pp_edge_is_shown(self->context, from ? from : to, to);
}

static void add_node(struct pp_table *table, const struct pp_precedence *self, uint32_t number)
{
	const struct pp_precedence_node *node = pp_precedence_node(self, number);
	const struct pp_namer *namer = self->context->namer;
	struct pp_cell *row = pp_table_add_row(table);
	const struct pp_call_site *site;
	g_autofree char *text = NULL;

	pp_cell_set_count(&row[NODE_ID], number);
	if (!node->thread) {
		const struct pp_object *object = pp_object_refs_at(&self->refs, node->at);

		text = pp_object_name(object, namer);
		pp_cell_set_count(&row[PP_NODE_PID], object->process->pid);
		pp_cell_set_count(&row[PP_NODE_IMAGE], object->process->image);
		pp_cell_set_text(&row[NODE_OBJECT], text);
		return;
	}
	site = pp_call_sites_at(&self->sites, node->at);
	text = pp_call_site_text(site, namer);
	pp_node_thread(row, node->thread);
	pp_cell_set_text(&row[NODE_FUNCTION], pp_call_site_function(site));
	pp_cell_set_text(&row[NODE_SITE], text);
}

static void add_object(struct pp_table *table, const struct pp_precedence *self,
		       const struct pp_link *link)
{
	struct pp_cell *row = pp_table_add_row(table);

	pp_object_row(row, pp_object_refs_at(&self->refs, link->parts[PP_PRECEDENCE_PART_OBJECT]),
		      self->context->namer);
	pp_cell_set_count(&row[OBJECT_COUNT], link->count);
}

static gint compare_edges(gconstpointer a, gconstpointer b)
{
	const struct pp_cell *x = *(struct pp_cell *const *)a, *y = *(struct pp_cell *const *)b;

	return pp_edge_order(x, y, EDGE_COUNT, EDGE_FROM, EDGE_TO);
}

static struct pp_cell *add_edge(struct pp_table *table, const struct pp_link *link)
{
	struct pp_cell *row = pp_table_add_row(table);

	pp_cell_set_count(&row[EDGE_FROM], link->from);
	pp_cell_set_count(&row[EDGE_TO], link->to);
	pp_cell_set_text(&row[EDGE_KIND], kinds[link->parts[PP_PRECEDENCE_PART_KIND]]);
	pp_cell_set_count(&row[EDGE_COUNT], 0);
	pp_cell_set_table(&row[EDGE_OBJECTS], pp_table_new_nested(&edge_columns[EDGE_OBJECTS]));
	return row;
}

struct pp_table *pp_precedence_tables(const struct pp_precedence *self, GPtrArray *tables)
{
	struct pp_table *nodes = pp_table_new("nodes", "Calls", node_columns, N_NODE_COLUMNS);
	struct pp_table *edges = pp_table_new("edges", "Precedence", edge_columns, N_EDGE_COLUMNS);
	g_autoptr(GPtrArray) links = pp_links_sorted(&self->links);
	g_autofree bool *is_used = g_new0(bool, self->nodes->len + 1);
	const struct pp_link *before = NULL;
	struct pp_cell *row = NULL;

	for (guint i = 0; i < links->len; i++) {
		const struct pp_link *link = links->pdata[i];

		if (!is_shown(self, link))
			continue;
		if (!before || link->from != before->from || link->to != before->to ||
		    link->parts[PP_PRECEDENCE_PART_KIND] != before->parts[PP_PRECEDENCE_PART_KIND])
			row = add_edge(edges, link);
		before = link;
		row[EDGE_COUNT].count += link->count;
		add_object(row[EDGE_OBJECTS].table, self, link);
		is_used[link->from] = is_used[link->to] = true;
	}
	g_ptr_array_sort(edges->rows, compare_edges);
	for (guint i = 0; i < self->nodes->len; i++)
		if (is_used[i])
			add_node(nodes, self, i);
	g_ptr_array_add(tables, nodes);
	g_ptr_array_add(tables, edges);
	return edges;
}
