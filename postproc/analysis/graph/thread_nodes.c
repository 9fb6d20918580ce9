/* SPDX-License-Identifier: MIT */
/* Node and edge cells for threads, and which edges a selection shows. */
#include "analysis/graph/thread_nodes.h"

#include "analysis/select.h"
#include "analysis/thread_cells.h"

static const struct pp_column columns[PP_NODE_CELLS] = {PP_NODE_COLUMNS};

void pp_node_thread(struct pp_cell *row, const struct pp_thread *thread)
{
	g_autofree char *group = pp_thread_group(thread);

	pp_cell_set_count(&row[PP_NODE_PID], thread->process->pid);
	pp_cell_set_count(&row[PP_NODE_IMAGE], thread->process->image);
	pp_cell_set_count(&row[PP_NODE_TID], thread->tid);
	pp_cell_set_count(&row[PP_NODE_INDEX], thread->index);
	pp_cell_set_text(&row[PP_NODE_NAME], pp_thread_name(thread));
	pp_cell_set_text(&row[PP_NODE_GROUP], group);
}

static bool is_end(const struct pp_cell *edge, unsigned first, const struct pp_thread *thread)
{
	/* The `from` and `to` cells have the same columns. */
	const struct pp_cell *end = edge + first - PP_EDGE_FROM;

	return !end[PP_EDGE_FROM].missing && end[PP_EDGE_FROM].count == thread->tid &&
	       end[PP_EDGE_FROM_PID].count == thread->process->pid &&
	       end[PP_EDGE_FROM_IMAGE].count == thread->process->image &&
	       end[PP_EDGE_FROM_INDEX].count == thread->index;
}

static bool is_at_edge(const struct pp_table *edges, const struct pp_thread *thread)
{
	for (guint i = 0; i < edges->rows->len; i++) {
		const struct pp_cell *edge = edges->rows->pdata[i];

		if (is_end(edge, PP_EDGE_FROM, thread) || is_end(edge, PP_EDGE_TO, thread))
			return true;
	}
	return false;
}

struct pp_table *pp_thread_nodes(const struct pp_pass_context *context,
				 const struct pp_thread_states *states,
				 const struct pp_table *edges)
{
	const GPtrArray *threads = context->model->threads;
	struct pp_table *table = pp_table_new("nodes", "Threads", columns, PP_NODE_CELLS);

	for (guint i = 0; i < threads->len; i++) {
		const struct pp_thread *thread = threads->pdata[i];
		const struct pp_thread_state *life = pp_thread_state(states, thread);

		if (life && life->begun &&
		    (pp_selects_thread(context, thread) || is_at_edge(edges, thread)))
			pp_node_thread(pp_table_add_row(table), thread);
	}
	return table;
}

static void set_end(struct pp_cell *end, const struct pp_thread *thread)
{
	g_autofree char *group = pp_thread_group(thread);

	pp_cell_set_count(&end[PP_EDGE_FROM], thread->tid);
	pp_cell_set_count(&end[PP_EDGE_FROM_PID], thread->process->pid);
	pp_cell_set_count(&end[PP_EDGE_FROM_IMAGE], thread->process->image);
	pp_cell_set_count(&end[PP_EDGE_FROM_INDEX], thread->index);
	pp_cell_set_text(&end[PP_EDGE_FROM_GROUP], group);
	pp_cell_set_text(&end[PP_EDGE_FROM_NAME], pp_thread_name(thread));
}

void pp_edge_threads(struct pp_cell *row, const struct pp_thread *from, const struct pp_thread *to)
{
	set_end(row, from);
	if (to)
		set_end(&row[PP_EDGE_TO], to);
}

bool pp_edge_is_shown(const struct pp_pass_context *context, const struct pp_thread *from,
		      const struct pp_thread *to)
{
	return pp_selects_thread(context, from) || (to && pp_selects_thread(context, to));
}
