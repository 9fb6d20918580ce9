/* SPDX-License-Identifier: MIT */
/* A hash table of links by their key, sorted by key for output. */
#include "analysis/graph/links.h"

#include <string.h>

#include "core/text/duration.h"

guint pp_pair_hash(gconstpointer data)
{
	return (guint)(*(const uint64_t *)data * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static guint link_hash(gconstpointer data)
{
	const struct pp_link *link = data;
	uint64_t hash = (uint64_t)link->from << 32 | link->to;

	for (unsigned i = 0; i < PP_LINK_PARTS; i++)
		hash = (hash ^ link->parts[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ hash >> 29;
	return (guint)(hash >> 32);
}

static int compare_keys(const struct pp_link *x, const struct pp_link *y)
{
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	for (unsigned i = 0; i < PP_LINK_PARTS; i++)
		if (x->parts[i] != y->parts[i])
			return x->parts[i] < y->parts[i] ? -1 : 1;
	return 0;
}

static gboolean link_equal(gconstpointer a, gconstpointer b)
{
	return compare_keys(a, b) == 0;
}

void pp_links_init(struct pp_links *links)
{
	*links =
	    (struct pp_links){.all = g_hash_table_new_full(link_hash, link_equal, g_free, NULL)};
}

void pp_links_done(struct pp_links *links)
{
	g_hash_table_unref(links->all);
}

bool pp_links_are_full(const struct pp_links *links)
{
	return g_hash_table_size(links->all) >= PP_LINKS_MAX;
}

bool pp_links_add(struct pp_links *links, const struct pp_link *key, int64_t ns)
{
	struct pp_link *link = g_hash_table_lookup(links->all, key);

	if (!link && pp_links_are_full(links)) {
		links->beyond_count++;
		links->beyond_ns += ns;
		return false;
	}
	if (!link) {
		link = g_memdup2(key, sizeof(*key));
		link->count = 0;
		link->sum_ns = link->max_ns = 0;
		g_hash_table_add(links->all, link);
	}
	link->count++;
	link->last_ns = key->last_ns;
	link->sum_ns += ns;
	link->max_ns = MAX(link->max_ns, ns);
	return true;
}

static gint compare_links(gconstpointer a, gconstpointer b)
{
	return compare_keys(*(const struct pp_link *const *)a, *(const struct pp_link *const *)b);
}

GPtrArray *pp_links_sorted(const struct pp_links *links)
{
	GPtrArray *sorted = g_ptr_array_sized_new(g_hash_table_size(links->all));
	GHashTableIter iter;
	void *link;

	g_hash_table_iter_init(&iter, links->all);
	while (g_hash_table_iter_next(&iter, &link, NULL))
		g_ptr_array_add(sorted, link);
	g_ptr_array_sort(sorted, compare_links);
	return sorted;
}

void pp_links_note(const struct pp_links *links, struct pp_table *table, const char *counted)
{
	g_autofree char *time = pp_duration_text(links->beyond_ns);

	if (!links->beyond_count)
		return;
	pp_table_note(
	    table,
	    "left out: %" G_GUINT64_FORMAT
	    " %s, %s in total, of further combinations of threads, objects and sites (limit: %u)",
	    links->beyond_count, counted, time, PP_LINKS_MAX);
}
