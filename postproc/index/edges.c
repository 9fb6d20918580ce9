/* SPDX-License-Identifier: MIT */
/* Sums the waits of the index by waiter and holder. */
#include "index/edges.h"

#include "analysis/graph/links.h"

/*
 * Adds a wait to the sum of its two threads and object; sums of the same two threads are adjacent.
 */
static void add_wait(struct pp_links *links, const struct pp_index_operation *operation,
		     const struct pp_index_more *more)
{
	struct pp_link link = {
	    .from = operation->thread,
	    .to = more->other,
	    .parts = {operation->object},
	};

	pp_links_add(links, &link, (int64_t)MIN(more->ns, INT64_MAX));
}

static void sum_up(struct pp_index_edge *edge, const struct pp_link *link, int64_t *most_ns)
{
	edge->n_objects++;
	edge->count += link->count;
	edge->wait_ns += link->sum_ns;
	edge->wait_max_ns = MAX(edge->wait_max_ns, link->max_ns);
	if (link->sum_ns <= *most_ns)
		return;
	*most_ns = link->sum_ns;
	edge->object = link->parts[0];
}

static int compare_edges(const void *a, const void *b)
{
	const struct pp_index_edge *x = a, *y = b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static void add_edges(struct pp_index *index, const struct pp_links *links)
{
	struct pp_mapped_array *edges = &index->sections[PP_SECTION_EDGES];
	g_autoptr(GPtrArray) sorted = pp_links_sorted(links);
	struct pp_index_edge *edge = NULL;
	int64_t most_ns = -1;

	for (guint i = 0; i < sorted->len; i++) {
		const struct pp_link *link = sorted->pdata[i];

		if (!edge || edge->from != link->from || edge->to != link->to) {
			edge = pp_mapped_array_add(edges, 1);
			edge->from = link->from;
			edge->to = link->to;
			most_ns = -1;
		}
		sum_up(edge, link, &most_ns);
	}
	if (edges->n)
		qsort(edges->data, edges->n, edges->item_bytes, compare_edges);
	if (!links->beyond_count)
		return;
	edge = pp_mapped_array_add(edges, 1);
	edge->from = edge->to = edge->object = PP_INDEX_NONE;
	edge->count = links->beyond_count;
	edge->wait_ns = links->beyond_ns;
}

bool pp_index_add_edges(struct pp_index *index, bool (*go_on)(void *data), void *data)
{
	const struct pp_mapped_array *all = &index->sections[PP_SECTION_MORE];
	struct pp_links links;
	bool goes_on = true;

	pp_links_init(&links);
	for (uint64_t i = 0; i < all->n && (goes_on = go_on(data)); i++) {
		const struct pp_index_more *more = pp_mapped_array_at(all, i);
		const struct pp_index_operation *operation =
		    pp_index_operation(index, more->operation);

		if (operation->flags & PP_INDEX_WAITED)
			add_wait(&links, operation, more);
	}
	if (goes_on)
		add_edges(index, &links);
	pp_links_done(&links);
	return goes_on;
}
