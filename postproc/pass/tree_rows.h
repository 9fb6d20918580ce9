/* SPDX-License-Identifier: MIT */
/*
 * Rows of a tree of calls.  Programs get a row per node, with the id of the node above.  Text has a
 * line for each node that does not only continue its caller's: a node with one child and nothing of
 * its own shares its line.
 */
#ifndef PP_PASS_TREE_ROWS_H
#define PP_PASS_TREE_ROWS_H

#include "analysis/paths/tree.h"

/* The first cells of the rows for programs. */
enum {
	PP_TREE_ID,
	PP_TREE_PARENT,
	PP_TREE_LEVEL,
	PP_TREE_FUNCTION,
	PP_TREE_RECURSION,
	PP_TREE_PATH,
	PP_TREE_CELLS
};

/* Their columns, first in the initializer of a table's columns. */
#define PP_TREE_COLUMNS                                                                            \
	[PP_TREE_ID] = {"id", "id", PP_TYPE_COUNT, PP_COLUMN_ID, "number of the node: 1, 2, ..."}, \
	[PP_TREE_PARENT] = {"parent", "parent", PP_TYPE_COUNT, PP_COLUMN_ID,                       \
			    "id of the node above: the caller, bottom-up the called function; "    \
			    "none: a root"},                                                       \
	[PP_TREE_LEVEL] = {"level", "level", PP_TYPE_COUNT, PP_COLUMN_ID,                          \
			   "1 for roots, 2 below them, ..."},                                      \
	[PP_TREE_FUNCTION] = {"function", "function", PP_TYPE_TEXT, PP_COLUMN_ID, "the function"}, \
	[PP_TREE_RECURSION] = {"recursion", "recursion", PP_TYPE_COUNT, PP_COLUMN_ID,              \
			       "how often it is on the path, at most, by calling itself; "         \
			       "missing: once"},                                                   \
	[PP_TREE_PATH] = {"path", "path", PP_TYPE_TEXT, PP_COLUMN_KEY,                             \
			  "the functions from the root on"}

/* The last column of the lines. */
extern const struct pp_column pp_tree_line_column;

/* Sets the figures of a node. */
typedef void pp_tree_fill(void *data, struct pp_cell *row, const struct pp_tree_node *node);

/* Adds the rows for programs, in which parents precede their children. */
void pp_tree_add_rows(struct pp_table *table, const struct pp_tree *tree, pp_tree_fill *fill,
		      void *data);

/* Adds the lines; for_text: only those with most of the main figure. */
void pp_tree_add_lines(struct pp_table *table, const struct pp_tree *tree, bool for_text,
		       pp_tree_fill *fill, void *data);

#endif
