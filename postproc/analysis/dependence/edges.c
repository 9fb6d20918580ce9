/* SPDX-License-Identifier: MIT */
/*
 * The edges, summed up by pair of sections and kind.
 *
 * The section of an instance is known when it has been left, that of a waiter later still.  Until
 * then an edge is in the tables of its unsettled ends, called vertices.  When a vertex is settled,
 * its edges get its section in place of it; those of which the other end is settled, too, go to the
 * sums, and others that have become the same are joined.  So the number of edges is bounded by what
 * exists, and by the pairs of sections.
 *
 * While there are few instances with edges, an end is the instance.
 */
#include "analysis/dependence/internal.h"

#include "analysis/state/object_name.h"
#include "analysis/select.h"

/* An end of an edge. */
struct end {
	struct pp_dep_vertex *vertex; /* NULL: it is settled: */
	struct pp_dependence_end id;
};

struct edge {
	struct end from, to;
	enum pp_dependence_edge_kind kind;
	uint64_t count;
	int64_t cost_ns;
};

struct pp_dep_vertex {
	GHashTable *edges; /* a set of struct edge * from or to it */
};

struct pp_dep_edges {
	GHashTable *sums;     /* a set of struct edge * */
	GPtrArray *instances; /* of struct pp_dependence_instance * */
	guint max_instances;
	bool has_all; /* `instances` has all */
};

/* Arrivals at a barrier since it opened: all of a section, or an instance. */
struct pp_dep_arrival {
	struct pp_dependence_end id;
	int64_t n, sum_ns;
	int64_t at_ns;
	const struct pp_thread *thread;
};

/* --- sets of edges -------------------------------------------------------------------------- */

static const void *end_key(const struct end *end)
{
	if (end->vertex)
		return end->vertex;
	return end->id.instance ? (const void *)end->id.instance : end->id.section;
}

static guint edge_hash(const void *data)
{
	const struct edge *edge = data;

	return g_direct_hash(end_key(&edge->from)) * 31 + g_direct_hash(end_key(&edge->to)) * 7 +
	       edge->kind;
}

static gboolean edge_equal(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return end_key(&x->from) == end_key(&y->from) && end_key(&x->to) == end_key(&y->to) &&
	       x->kind == y->kind;
}

/* Adds the edge to the set, or to the same edge in there; then frees it. */
static void put(GHashTable *set, struct edge *edge)
{
	struct edge *same = g_hash_table_lookup(set, edge);

	if (!same) {
		g_hash_table_add(set, edge);
		return;
	}
	same->count += edge->count;
	same->cost_ns += edge->cost_ns;
	g_free(edge);
}

struct pp_dep_edges *pp_dep_edges_new(guint max_instances)
{
	struct pp_dep_edges *edges = g_new0(struct pp_dep_edges, 1);

	edges->sums = g_hash_table_new_full(edge_hash, edge_equal, g_free, NULL);
	edges->instances = g_ptr_array_new();
	edges->max_instances = max_instances;
	edges->has_all = max_instances > 0;
	return edges;
}

void pp_dep_edges_free(struct pp_dep_edges *edges)
{
	for (guint i = 0; i < edges->instances->len; i++) {
		struct pp_dependence_instance *instance = edges->instances->pdata[i];

		g_free(instance->lock);
		g_free(instance);
	}
	g_ptr_array_unref(edges->instances);
	g_hash_table_unref(edges->sums);
	g_free(edges);
}

/* --- settled edges -------------------------------------------------------------------------- */

static void sum_up(struct pp_dep_edges *edges, struct edge *edge)
{
	if (!edges->has_all)
		edge->from.id.instance = edge->to.id.instance = NULL;
	put(edges->sums, edge);
}

/* There are too many instances: from now on, edges are those of sections. */
static void forget_instances(struct pp_dep_edges *edges)
{
	guint n;
	g_autofree void **all = g_hash_table_get_keys_as_array(edges->sums, &n);

	edges->has_all = false;
	g_hash_table_steal_all(edges->sums);
	for (guint i = 0; i < n; i++)
		sum_up(edges, all[i]);
}

static const struct pp_dependence_instance *add_instance(struct pp_dependence *dependence,
							 const struct pp_dep_node *node,
							 const struct pp_section *section)
{
	struct pp_dep_edges *edges = dependence->edges;
	struct pp_dependence_instance *instance;

	if (edges->has_all && edges->instances->len >= edges->max_instances)
		forget_instances(edges);
	if (!edges->has_all)
		return NULL;
	instance = g_new0(struct pp_dependence_instance, 1);
	instance->section = section;
	instance->thread = node->thread;
	instance->since_ns = node->since_ns;
	instance->type = node->place->object->type;
	instance->lock = pp_object_name(node->place->object, dependence->context->namer);
	g_ptr_array_add(edges->instances, instance);
	return instance;
}

/* --- edges between what is not settled -------------------------------------------------------- */

struct pp_dep_vertex *pp_dep_vertex_new(void)
{
	return g_new0(struct pp_dep_vertex, 1);
}

static GHashTable *edges_of(struct pp_dep_vertex *vertex)
{
	if (!vertex->edges)
		vertex->edges = g_hash_table_new(edge_hash, edge_equal);
	return vertex->edges;
}

void pp_dep_edges_charge(struct pp_dep_node *from, struct pp_dep_vertex *to,
			 enum pp_dependence_edge_kind kind, int64_t cost_ns)
{
	struct edge key = {.to.vertex = to, .kind = kind, .count = 1}, *edge;

	if (from) {
		from->vertex = from->vertex ?: pp_dep_vertex_new();
		key.from.vertex = from->vertex;
	}
	edge = g_hash_table_lookup(edges_of(to), &key);
	if (!edge) {
		edge = g_memdup2(&key, sizeof(key));
		g_hash_table_add(edges_of(to), edge);
		if (from)
			g_hash_table_add(edges_of(from->vertex), edge);
	}
	edge->cost_ns += cost_ns;
}

/* The end of the edge is settled as `id`, and no longer in a table. */
static void settle_end(struct pp_dep_edges *edges, struct edge *edge, struct end *end,
		       const struct end *other, struct pp_dependence_end id)
{
	if (other->vertex)
		g_hash_table_remove(edges_of(other->vertex), edge);
	*end = (struct end){.id = id};
	if (other->vertex)
		put(edges_of(other->vertex), edge);
	else
		sum_up(edges, edge);
}

static void settle(struct pp_dependence *dependence, struct pp_dep_vertex *vertex,
		   struct pp_dependence_end as_source, struct pp_dependence_end as_waiter)
{
	GHashTableIter iter;
	void *data;

	if (vertex->edges) {
		g_hash_table_iter_init(&iter, vertex->edges);
		while (g_hash_table_iter_next(&iter, &data, NULL)) {
			struct edge *edge = data;

			if (edge->from.vertex == vertex)
				settle_end(dependence->edges, edge, &edge->from, &edge->to,
					   as_source);
			else
				settle_end(dependence->edges, edge, &edge->to, &edge->from,
					   as_waiter);
		}
		g_hash_table_unref(vertex->edges);
	}
	g_free(vertex);
}

void pp_dep_vertex_settle(struct pp_dependence *dependence, struct pp_dep_vertex *vertex,
			  const struct pp_dep_node *node)
{
	struct pp_dependence_end id = {.section = pp_dep_section_of(dependence, node)}, none = {0};

	if (vertex->edges)
		id.instance = add_instance(dependence, node, id.section);
	settle(dependence, vertex, pp_dep_is_section(node) ? id : none, id);
}

void pp_dep_vertex_drop(struct pp_dependence *dependence, struct pp_dep_vertex *vertex)
{
	const struct pp_dependence_end none = {0};

	settle(dependence, vertex, none, none);
}

/* --- barriers ------------------------------------------------------------------------------- */

static int64_t selected_now(const struct pp_dependence *dependence)
{
	return pp_selected_ns(dependence->context, pp_model_origin(dependence->context->model),
			      dependence->now_ns);
}

/* Several arrivals of one section are one, unless each is an instance of its own. */
static struct pp_dep_arrival *arrival_of(struct pp_dependence *dependence,
					 const struct pp_dep_node *node,
					 const struct pp_section *section)
{
	GPtrArray *arrivals = node->place->arrivals;
	struct pp_dep_arrival *arrival;

	for (guint i = 0; !dependence->edges->has_all && i < arrivals->len; i++) {
		arrival = arrivals->pdata[i];
		if (arrival->id.section == section)
			return arrival;
	}
	arrival = g_new0(struct pp_dep_arrival, 1);
	arrival->id.section = section;
	arrival->thread = node->thread;
	arrival->at_ns = node->since_ns;
	g_ptr_array_add(arrivals, arrival);
	return arrival;
}

/* The arrival has an edge: it is an instance. */
static void count_instance(struct pp_dependence *dependence, struct pp_dep_place *place,
			   struct pp_dep_arrival *arrival)
{
	const struct pp_dep_node node = {
	    .place = place, .thread = arrival->thread, .since_ns = arrival->at_ns};

	if (!arrival->id.instance && arrival->n <= 1)
		arrival->id.instance = add_instance(dependence, &node, arrival->id.section);
}

static void add_barrier_edge(struct pp_dependence *dependence, struct pp_dep_place *place,
			     struct pp_dep_arrival *from, struct pp_dep_arrival *to, int64_t now_ns)
{
	struct edge edge = {
	    .kind = PP_DEPENDENCE_BARRIER,
	    .count = (uint64_t)to->n,
	    .cost_ns = to->n * now_ns - to->sum_ns,
	};

	if (!edge.cost_ns)
		return;
	count_instance(dependence, place, from);
	count_instance(dependence, place, to);
	edge.from.id = from->id;
	edge.to.id = to->id;
	sum_up(dependence->edges, g_memdup2(&edge, sizeof(edge)));
}

void pp_dep_edges_arrive(struct pp_dependence *dependence, const struct pp_dep_node *node)
{
	const struct pp_section *section = pp_dep_section_of(dependence, node);
	struct pp_dep_arrival self = {
	    .id.section = section, .thread = node->thread, .at_ns = node->since_ns};
	struct pp_dep_place *place = node->place;
	struct pp_dep_arrival *arrival;
	int64_t now_ns = selected_now(dependence);

	if (!place->arrivals)
		place->arrivals = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < place->arrivals->len; i++)
		add_barrier_edge(dependence, place, &self, place->arrivals->pdata[i], now_ns);
	arrival = arrival_of(dependence, node, section);
	if (self.id.instance)
		arrival->id.instance = self.id.instance;
	arrival->n++;
	arrival->sum_ns += now_ns;
}

/* -------------------------------------------------------------------------------------------- */

void pp_dependence_walk_edges(const struct pp_dependence *dependence, pp_dependence_take_edge *take,
			      void *data)
{
	GHashTableIter iter;
	void *key;

	g_hash_table_iter_init(&iter, dependence->edges->sums);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		const struct edge *edge = key;

		take(data, &edge->from.id, &edge->to.id, edge->kind, edge->count, edge->cost_ns);
	}
}

const GPtrArray *pp_dependence_instances(const struct pp_dependence *dependence)
{
	return dependence->edges->has_all ? dependence->edges->instances : NULL;
}
