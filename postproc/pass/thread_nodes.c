/* SPDX-License-Identifier: MIT */
#include "pass/thread_nodes.h"

#include "pass/select.h"

#include <string.h>

static const struct pp_column columns[PP_NODE_CELLS] = {PP_NODE_COLUMNS};

/* "client-12" -> "client"; a name of digits alone stays. */
static char *name_stem(const char *name)
{
	size_t len = strlen(name);

	while (len > 0 && g_ascii_isdigit(name[len - 1]))
		len--;
	while (len > 0 && strchr("-_.:/# ", name[len - 1]))
		len--;
	return len ? g_strndup(name, len) : g_strdup(name);
}

static char *group_of(const struct pp_pass_context *context, const struct pp_thread *thread)
{
	const struct pp_namer *namer = context->namer;

	/* The namer takes return addresses, so one past the first of the function. */
	if (thread->start_routine && namer && namer->function)
		return namer->function(namer->data, thread->process, thread->start_routine + 1);
	return thread->name && thread->name[0] ? name_stem(thread->name) : NULL;
}

void pp_node_thread(struct pp_cell *row, const struct pp_pass_context *context,
		    const struct pp_thread *thread)
{
	g_autofree char *group = group_of(context, thread);

	pp_cell_set_count(&row[PP_NODE_PID], thread->process->pid);
	pp_cell_set_count(&row[PP_NODE_IMAGE], thread->process->image);
	pp_cell_set_count(&row[PP_NODE_TID], thread->tid);
	pp_cell_set_count(&row[PP_NODE_INDEX], thread->index);
	pp_cell_set_text(&row[PP_NODE_NAME], thread->name);
	pp_cell_set_text(&row[PP_NODE_GROUP], group);
}

static bool is_end(const struct pp_cell *edge, unsigned first, const struct pp_thread *thread)
{
	/* From and to have the same columns. */
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
			pp_node_thread(pp_table_add_row(table), context, thread);
	}
	return table;
}

void pp_edge_threads(struct pp_cell *row, const struct pp_thread *from, const struct pp_thread *to)
{
	pp_cell_set_count(&row[PP_EDGE_FROM], from->tid);
	pp_cell_set_count(&row[PP_EDGE_FROM_PID], from->process->pid);
	pp_cell_set_count(&row[PP_EDGE_FROM_IMAGE], from->process->image);
	pp_cell_set_count(&row[PP_EDGE_FROM_INDEX], from->index);
	pp_cell_set_text(&row[PP_EDGE_FROM_NAME], from->name);
	if (!to)
		return;
	pp_cell_set_count(&row[PP_EDGE_TO], to->tid);
	pp_cell_set_count(&row[PP_EDGE_TO_PID], to->process->pid);
	pp_cell_set_count(&row[PP_EDGE_TO_IMAGE], to->process->image);
	pp_cell_set_count(&row[PP_EDGE_TO_INDEX], to->index);
	pp_cell_set_text(&row[PP_EDGE_TO_NAME], to->name);
}

bool pp_edge_is_shown(const struct pp_pass_context *context, const struct pp_thread *from,
		      const struct pp_thread *to)
{
	return pp_selects_thread(context, from) || (to && pp_selects_thread(context, to));
}
