/* SPDX-License-Identifier: MIT */
/* The wait graph as text: the waits of one thread for another, longest first. */
#include "core/text/duration.h"
#include "tui/browser.h"

/* More than a user reads; `graph` prints all. */
#define MOST_SHOWN 1000

/* Pads the name with blanks to that many columns. */
static char *padded(const struct pp_browser *browser, uint32_t thread, int columns)
{
	g_autofree char *name = pp_browser_thread_label(browser, thread);
	int blanks = MAX(columns - pp_screen_width(&browser->screen, name), 0);

	return g_strdup_printf("%s%*s", name, blanks, "");
}

static char *edge_text(struct pp_browser *browser, const struct pp_index_edge *edge)
{
	g_autofree char *from = padded(browser, edge->from, 12);
	g_autofree char *to = padded(browser, edge->to, 12);
	g_autofree char *object = pp_browser_object_label(browser, edge->object, true);
	g_autofree char *wait = pp_duration_text(edge->wait_ns);
	g_autofree char *longest = pp_duration_text(edge->wait_max_ns);
	g_autofree char *others = edge->n_objects > 1
				      ? g_strdup_printf(" and %u more", edge->n_objects - 1)
				      : g_strdup("");

	if (!edge->n_objects)
		return g_strdup_printf("and %" G_GUINT64_FORMAT
				       " waits, %s in all, beyond the limit of edges",
				       edge->count, wait);
	return g_strdup_printf("%s -> %s %8s %6" G_GUINT64_FORMAT " times, longest %8s  on %s%s",
			       from, to, wait, edge->count, longest, object, others);
}

GPtrArray *pp_browser_graph(struct pp_browser *browser)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	uint64_t n = pp_index_n(browser->index, PP_SECTION_EDGES);

	for (uint64_t i = 0; i < MIN(n, MOST_SHOWN); i++)
		g_ptr_array_add(lines, edge_text(browser, pp_index_edge(browser->index, i)));
	if (n > MOST_SHOWN)
		g_ptr_array_add(lines, g_strdup_printf("and %" G_GUINT64_FORMAT
						       " more: gprof-mt graph --kind wait",
						       n - MOST_SHOWN));
	if (!n)
		g_ptr_array_add(lines, g_strdup("no thread waited for another"));
	return lines;
}
