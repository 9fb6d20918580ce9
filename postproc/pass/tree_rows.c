/* SPDX-License-Identifier: MIT */
/* See tree_rows.h. */
#include "pass/tree_rows.h"

#include "table/top.h"

/* Text has at most so many lines unless --top is given. */
#define TEXT_ROWS 40
#define INDENT	  2

const struct pp_column pp_tree_line_column = {"call_tree", "call path", PP_TYPE_TEXT, PP_COLUMN_KEY,
					      "the functions"};

struct rows {
	struct pp_table *table;
	const struct pp_tree *tree;
	pp_tree_fill *fill;
	void *data;
	GHashTable *ids; /* const struct pp_tree_node * -> id */
};

static void add_row(void *data, const struct pp_tree_node *node)
{
	struct rows *rows = data;
	struct pp_cell *row = pp_table_add_row(rows->table);
	g_autofree char *path = pp_tree_path_text(rows->tree, node);
	guint id = rows->table->rows->len;

	g_hash_table_insert(rows->ids, (void *)node, GUINT_TO_POINTER(id));
	pp_cell_set_count(&row[PP_TREE_ID], id);
	if (node->parent->parent)
		pp_cell_set_count(&row[PP_TREE_PARENT],
				  GPOINTER_TO_UINT(g_hash_table_lookup(rows->ids, node->parent)));
	pp_cell_set_count(&row[PP_TREE_LEVEL], node->level);
	pp_cell_set_text(&row[PP_TREE_FUNCTION], node->name);
	if (node->most > 1)
		pp_cell_set_count(&row[PP_TREE_RECURSION], node->most);
	pp_cell_set_text(&row[PP_TREE_PATH], path);
	rows->fill(rows->data, row, node);
}

void pp_tree_add_rows(struct pp_table *table, const struct pp_tree *tree, pp_tree_fill *fill,
		      void *data)
{
	struct rows rows = {.table = table, .tree = tree, .fill = fill, .data = data};

	rows.ids = g_hash_table_new(NULL, NULL);
	pp_tree_walk(tree, add_row, &rows);
	table->is_in_order = true;
	table->is_for_programs = true;
	g_hash_table_unref(rows.ids);
}

static void add_line(void *data, const struct pp_tree_node *node, const struct pp_tree_node *end,
		     unsigned depth)
{
	struct rows *rows = data;
	struct pp_cell *row = pp_table_add_row(rows->table);
	g_autofree char *chain = pp_tree_chain_text(rows->tree, node, end);
	g_autofree char *line = g_strdup_printf("%*s%s", (int)(depth * INDENT), "", chain);

	rows->fill(rows->data, row, node);
	pp_cell_set_text(&row[rows->table->n_columns - 1], line);
}

void pp_tree_add_lines(struct pp_table *table, const struct pp_tree *tree, bool for_text,
		       pp_tree_fill *fill, void *data)
{
	struct rows rows = {.table = table, .tree = tree, .fill = fill, .data = data};

	pp_tree_walk_chains(tree, add_line, &rows);
	table->is_in_order = true;
	table->is_for_text = true;
	if (for_text)
		pp_table_keep_top(table, TEXT_ROWS);
}
