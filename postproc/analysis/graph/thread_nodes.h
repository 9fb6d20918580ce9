/* SPDX-License-Identifier: MIT */
/* The tables that graphs of threads have in common. */
#ifndef PP_ANALYSIS_GRAPH_THREAD_NODES_H
#define PP_ANALYSIS_GRAPH_THREAD_NODES_H

#include "analysis/thread_cells.h"
#include "analysis/state/thread_state.h"

enum {
	PP_NODE_PID,
	PP_NODE_IMAGE,
	PP_NODE_TID,
	PP_NODE_INDEX,
	PP_NODE_NAME,
	PP_NODE_GROUP,
	PP_NODE_CELLS
};

#define PP_NODE_COLUMNS                                                                            \
	[PP_NODE_PID] = {"pid", "pid", PP_TYPE_COUNT,                                              \
			 PP_COLUMN_JSON_ONLY | PP_COLUMN_ID | PP_COLUMN_THREAD, "process"},        \
	[PP_NODE_IMAGE] = {"image", "image", PP_TYPE_COUNT,                                        \
			   PP_COLUMN_JSON_ONLY | PP_COLUMN_ID | PP_COLUMN_THREAD,                  \
			   "number of the process's image, one more after each exec"},             \
	[PP_NODE_TID] = {"tid", "tid", PP_TYPE_COUNT, PP_COLUMN_ID | PP_COLUMN_THREAD,             \
			 "thread id"},                                                             \
	[PP_NODE_INDEX] = {"index", "index", PP_TYPE_COUNT,                                        \
			   PP_COLUMN_JSON_ONLY | PP_COLUMN_ID | PP_COLUMN_THREAD,                  \
			   "number of the thread in its process"},                                 \
	[PP_NODE_NAME] = {"name", "name", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_THREAD,          \
			  "name of the thread"},                                                   \
	[PP_NODE_GROUP] = {"group", "group", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_GROUP,        \
			   PP_THREAD_GROUP_HELP}

/* Fills the cells of a node. */
void pp_node_thread(struct pp_cell *row, const struct pp_thread *thread);

/* A row for each selected thread of which something is known, and for each end of these edges. */
struct pp_table *pp_thread_nodes(const struct pp_pass_context *context,
				 const struct pp_thread_states *states,
				 const struct pp_table *edges);

enum {
	PP_EDGE_FROM,
	PP_EDGE_FROM_PID,
	PP_EDGE_FROM_IMAGE,
	PP_EDGE_FROM_INDEX,
	PP_EDGE_FROM_GROUP,
	PP_EDGE_FROM_NAME,
	PP_EDGE_TO,
	PP_EDGE_TO_PID,
	PP_EDGE_TO_IMAGE,
	PP_EDGE_TO_INDEX,
	PP_EDGE_TO_GROUP,
	PP_EDGE_TO_NAME,
	PP_EDGE_CELLS,
};

#define PP_EDGE_END(first, prefix, help)                                                           \
	[first] = {prefix, prefix, PP_TYPE_COUNT, PP_COLUMN_ID | PP_COLUMN_THREAD, help},          \
	[first + PP_EDGE_FROM_PID] = {prefix "_pid", "pid", PP_TYPE_COUNT,                         \
				      PP_COLUMN_JSON_ONLY | PP_COLUMN_ID | PP_COLUMN_THREAD,       \
				      "its process"},                                              \
	[first + PP_EDGE_FROM_IMAGE] = {prefix "_image", "image", PP_TYPE_COUNT,                   \
					PP_COLUMN_JSON_ONLY | PP_COLUMN_ID | PP_COLUMN_THREAD,     \
					"number of the process's image"},                          \
	[first + PP_EDGE_FROM_INDEX] = {prefix "_index", "index", PP_TYPE_COUNT,                   \
					PP_COLUMN_JSON_ONLY | PP_COLUMN_ID | PP_COLUMN_THREAD,     \
					"number of the thread in its process"},                    \
	[first + PP_EDGE_FROM_GROUP] = {prefix "_group", prefix " group", PP_TYPE_TEXT,            \
					PP_COLUMN_JSON_ONLY | PP_COLUMN_KEY | PP_COLUMN_GROUP,     \
					PP_THREAD_GROUP_HELP},                                     \
	[first + PP_EDGE_FROM_NAME] = {prefix "_name", "name", PP_TYPE_TEXT,                       \
				       PP_COLUMN_TEXT_ONLY | PP_COLUMN_KEY | PP_COLUMN_THREAD,     \
				       "its name"}

/* Both ends have the same columns. */
#define PP_EDGE_COLUMNS(from_help, to_help)                                                        \
	PP_EDGE_END(PP_EDGE_FROM, "from", from_help), PP_EDGE_END(PP_EDGE_TO, "to", to_help)

/* Fills the cells of an edge.  If `to` is NULL (not known), its cells are missing values. */
void pp_edge_threads(struct pp_cell *row, const struct pp_thread *from, const struct pp_thread *to);

/* True if the selection includes one of the ends; `to` may be NULL. */
bool pp_edge_is_shown(const struct pp_pass_context *context, const struct pp_thread *from,
		      const struct pp_thread *to);

#endif
