/* SPDX-License-Identifier: MIT */
/* Who waits for whom: for each thread those that it waited for, longest first. */
#include <string.h>

#include "core/duration.h"
#include "tui/browser.h"

struct edge {
	uint32_t from, to; /* threads; PP_INDEX_NONE: nobody knows */
	uint64_t count;
	int64_t wait_ns, wait_max_ns;
	GHashTable *objects; /* number -> int64_t *: how long */
};

static guint edge_hash(const void *data)
{
	const struct edge *edge = data;

	return edge->from * 31 + edge->to;
}

static gboolean edge_equal(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->from == y->from && x->to == y->to;
}

static void edge_free(void *data)
{
	struct edge *edge = data;

	g_hash_table_unref(edge->objects);
	g_free(edge);
}

static void add_wait(GHashTable *edges, const struct pp_index_operation *operation,
		     const struct pp_index_more *more)
{
	struct edge key = {.from = operation->thread, .to = more->other};
	struct edge *edge = g_hash_table_lookup(edges, &key);
	int64_t wait_ns = (int64_t)MIN(more->ns, INT64_MAX / 2), *on;

	if (!edge) {
		edge = g_new0(struct edge, 1);
		*edge = key;
		edge->objects = g_hash_table_new_full(NULL, NULL, NULL, g_free);
		g_hash_table_add(edges, edge);
	}
	edge->count++;
	edge->wait_ns = edge->wait_ns > INT64_MAX / 2 ? edge->wait_ns : edge->wait_ns + wait_ns;
	edge->wait_max_ns = MAX(edge->wait_max_ns, wait_ns);
	on = g_hash_table_lookup(edge->objects, GUINT_TO_POINTER(operation->object));
	if (!on) {
		on = g_new0(int64_t, 1);
		g_hash_table_insert(edge->objects, GUINT_TO_POINTER(operation->object), on);
	}
	*on = *on > INT64_MAX / 2 ? *on : *on + wait_ns;
}

static GHashTable *gather(const struct pp_browser *browser)
{
	GHashTable *edges = g_hash_table_new_full(edge_hash, edge_equal, edge_free, NULL);
	const struct pp_pile *all = &browser->index->sections[PP_SECTION_MORE];

	for (uint64_t i = 0; i < all->n; i++) {
		const struct pp_index_more *more = pp_pile_at(all, i);
		const struct pp_index_operation *operation =
		    pp_index_operation(browser->index, more->operation);

		if (operation && operation->flags & PP_INDEX_WAITED)
			add_wait(edges, operation, more);
	}
	return edges;
}

static gint compare_edges(gconstpointer a, gconstpointer b)
{
	const struct edge *x = *(struct edge *const *)a, *y = *(struct edge *const *)b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* That it waited longest for. */
static uint32_t worst_object(const struct edge *edge)
{
	GHashTableIter iter;
	gpointer object, ns;
	uint32_t worst = PP_INDEX_NONE;
	int64_t most_ns = -1;

	g_hash_table_iter_init(&iter, edge->objects);
	while (g_hash_table_iter_next(&iter, &object, &ns)) {
		int64_t its_ns = *(int64_t *)ns;

		if (its_ns > most_ns || (its_ns == most_ns && GPOINTER_TO_UINT(object) < worst)) {
			worst = GPOINTER_TO_UINT(object);
			most_ns = its_ns;
		}
	}
	return worst;
}

/* Bytes for so many characters. */
static int bytes_of(const char *name, int characters)
{
	return characters + (int)((glong)strlen(name) - g_utf8_strlen(name, -1));
}

static char *edge_text(struct pp_browser *browser, const struct edge *edge)
{
	g_autofree char *from = pp_browser_thread_name(browser, edge->from);
	g_autofree char *to = pp_browser_thread_name(browser, edge->to);
	g_autofree char *wait = pp_duration_text(edge->wait_ns);
	g_autofree char *longest = pp_duration_text(edge->wait_max_ns);
	guint n_objects = g_hash_table_size(edge->objects);
	g_autofree char *others =
	    n_objects > 1 ? g_strdup_printf(" and %u more", n_objects - 1) : g_strdup("");

	return g_strdup_printf(
	    "%-*s -> %-*s %8s %6" G_GUINT64_FORMAT " times, longest %8s  on %s%s",
	    bytes_of(from, 12), from, bytes_of(to, 12), to, wait, edge->count, longest,
	    pp_browser_object_name(browser, worst_object(edge)), others);
}

GPtrArray *pp_browser_graph(struct pp_browser *browser)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GHashTable) edges = gather(browser);
	g_autoptr(GPtrArray) sorted = g_ptr_array_new();
	GHashTableIter iter;
	gpointer edge;

	g_hash_table_iter_init(&iter, edges);
	while (g_hash_table_iter_next(&iter, &edge, NULL))
		g_ptr_array_add(sorted, edge);
	g_ptr_array_sort(sorted, compare_edges);
	for (guint i = 0; i < sorted->len; i++)
		g_ptr_array_add(lines, edge_text(browser, sorted->pdata[i]));
	if (!sorted->len)
		g_ptr_array_add(lines, g_strdup("nobody waited for anybody"));
	return lines;
}
