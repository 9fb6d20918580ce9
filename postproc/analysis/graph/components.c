/* SPDX-License-Identifier: MIT */
/* See components.h.  Iterative, since a path may be as long as the graph is large. */
#include "analysis/graph/components.h"

#include <stdbool.h>
#include <string.h>

struct visit {
	uint32_t node;
	uint32_t next; /* position in outgoing */
};

struct tarjan {
	struct pp_components *result;
	uint32_t *first;    /* node -> its first arc in outgoing; has n + 1 elements */
	uint32_t *outgoing; /* targets of arcs, grouped by source */
	uint32_t *order;    /* 0: not visited yet; else 1, 2, ... */
	uint32_t *low;
	bool *on_stack;
	GArray *stack, *visits;
	uint32_t n_visited, n_finished;
};

static void index_outgoing(struct tarjan *tarjan, uint32_t n, const GArray *arcs)
{
	g_autofree uint32_t *at = g_new0(uint32_t, n + 1);

	tarjan->first = g_new0(uint32_t, n + 1);
	tarjan->outgoing = g_new0(uint32_t, arcs->len + 1);
	for (guint i = 0; i < arcs->len; i++)
		tarjan->first[g_array_index(arcs, struct pp_component_arc, i).from + 1]++;
	for (uint32_t i = 0; i < n; i++)
		tarjan->first[i + 1] += tarjan->first[i];
	memcpy(at, tarjan->first, n * sizeof(*at));
	for (guint i = 0; i < arcs->len; i++) {
		const struct pp_component_arc *arc =
		    &g_array_index(arcs, struct pp_component_arc, i);

		tarjan->outgoing[at[arc->from]++] = arc->to;
	}
}

static void enter(struct tarjan *tarjan, uint32_t node)
{
	struct visit visit = {node, tarjan->first[node]};

	tarjan->order[node] = tarjan->low[node] = ++tarjan->n_visited;
	tarjan->on_stack[node] = true;
	g_array_append_val(tarjan->stack, node);
	g_array_append_val(tarjan->visits, visit);
}

static uint32_t pop(GArray *stack)
{
	uint32_t last = g_array_index(stack, uint32_t, stack->len - 1);

	g_array_set_size(stack, stack->len - 1);
	return last;
}

/* `root` and the nodes above it on the stack form a component. */
static void close_component(struct tarjan *tarjan, uint32_t root)
{
	bool alone = g_array_index(tarjan->stack, uint32_t, tarjan->stack->len - 1) == root;
	uint32_t number = alone ? 0 : ++tarjan->result->n;
	uint32_t member;

	do {
		member = pop(tarjan->stack);
		tarjan->on_stack[member] = false;
		tarjan->result->of[member] = number;
		tarjan->result->finished[tarjan->n_finished++] = member;
	} while (member != root);
}

static void leave(struct tarjan *tarjan, uint32_t node)
{
	g_array_set_size(tarjan->visits, tarjan->visits->len - 1);
	if (tarjan->visits->len) {
		uint32_t before =
		    g_array_index(tarjan->visits, struct visit, tarjan->visits->len - 1).node;

		tarjan->low[before] = MIN(tarjan->low[before], tarjan->low[node]);
	}
	if (tarjan->low[node] == tarjan->order[node])
		close_component(tarjan, node);
}

static void visit_from(struct tarjan *tarjan, uint32_t start)
{
	enter(tarjan, start);
	while (tarjan->visits->len) {
		struct visit *visit =
		    &g_array_index(tarjan->visits, struct visit, tarjan->visits->len - 1);
		uint32_t node = visit->node, to;

		if (visit->next == tarjan->first[node + 1]) {
			leave(tarjan, node);
			continue;
		}
		to = tarjan->outgoing[visit->next++];
		if (!tarjan->order[to])
			enter(tarjan, to);
		else if (tarjan->on_stack[to])
			tarjan->low[node] = MIN(tarjan->low[node], tarjan->order[to]);
	}
}

void pp_components_find(struct pp_components *components, uint32_t n_nodes, const GArray *arcs)
{
	struct tarjan tarjan = {
	    .result = components,
	    .order = g_new0(uint32_t, n_nodes + 1),
	    .low = g_new0(uint32_t, n_nodes + 1),
	    .on_stack = g_new0(bool, n_nodes + 1),
	    .stack = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	    .visits = g_array_new(FALSE, FALSE, sizeof(struct visit)),
	};

	*components = (struct pp_components){
	    .of = g_new0(uint32_t, n_nodes + 1),
	    .finished = g_new0(uint32_t, n_nodes + 1),
	};
	index_outgoing(&tarjan, n_nodes, arcs);
	for (uint32_t i = 0; i < n_nodes; i++)
		if (!tarjan.order[i])
			visit_from(&tarjan, i);
	g_free(tarjan.first);
	g_free(tarjan.outgoing);
	g_free(tarjan.order);
	g_free(tarjan.low);
	g_free(tarjan.on_stack);
	g_array_unref(tarjan.stack);
	g_array_unref(tarjan.visits);
}

void pp_components_done(struct pp_components *components)
{
	g_free(components->of);
	g_free(components->finished);
}
