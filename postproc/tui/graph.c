/* SPDX-License-Identifier: MIT */
/* Who waits for whom: for each thread those that it waited for, longest first. */
#include <string.h>

#include "core/duration.h"
#include "tui/browser.h"

/* Bytes for so many characters. */
static int bytes_of(const char *name, int characters)
{
	return characters + (int)((glong)strlen(name) - g_utf8_strlen(name, -1));
}

static char *edge_text(struct pp_browser *browser, const struct pp_index_edge *edge)
{
	g_autofree char *from = pp_browser_thread_label(browser, edge->from);
	g_autofree char *to = pp_browser_thread_label(browser, edge->to);
	g_autofree char *wait = pp_duration_text(edge->wait_ns);
	g_autofree char *longest = pp_duration_text(edge->wait_max_ns);
	g_autofree char *others = edge->n_objects > 1
				      ? g_strdup_printf(" and %u more", edge->n_objects - 1)
				      : g_strdup("");

	if (!edge->n_objects)
		return g_strdup_printf("and %" G_GUINT64_FORMAT
				       " waits, %s in all, that were not told apart",
				       edge->count, wait);
	return g_strdup_printf("%-*s -> %-*s %8s %6" G_GUINT64_FORMAT
			       " times, longest %8s  on %s%s",
			       bytes_of(from, 12), from, bytes_of(to, 12), to, wait, edge->count,
			       longest, pp_browser_object_name(browser, edge->object), others);
}

GPtrArray *pp_browser_graph(struct pp_browser *browser)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	const struct pp_index_edge *edge;

	for (uint64_t i = 0; (edge = pp_index_edge(browser->index, i)); i++)
		g_ptr_array_add(lines, edge_text(browser, edge));
	if (!lines->len)
		g_ptr_array_add(lines, g_strdup("nobody waited for anybody"));
	return lines;
}
