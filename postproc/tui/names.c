/* SPDX-License-Identifier: MIT */
/* Resolves names when they are first shown, and caches them. */
#include <string.h>

#include "core/text/printable.h"
#include "tui/browser.h"

const char *pp_browser_object_name(struct pp_browser *browser, uint32_t object)
{
	if (object >= pp_index_n(browser->index, PP_SECTION_OBJECTS))
		return "?";
	if (!browser->object_names[object])
		browser->object_names[object] =
		    pp_printable(pp_index_object_name(browser->index, object, browser->namer));
	return browser->object_names[object];
}

const char *pp_browser_site_name(struct pp_browser *browser, uint32_t number)
{
	const struct pp_index_site *site = pp_index_site(browser->index, number);
	const struct pp_process *process =
	    site ? pp_index_process(browser->index, site->process) : NULL;
	const struct pp_namer *namer = browser->namer;

	if (!process || !site->address || !namer || !namer->site)
		return "-";
	if (!browser->site_names[number])
		browser->site_names[number] =
		    pp_printable(namer->site(namer->data, process, site->address));
	return browser->site_names[number];
}

char *pp_browser_thread_name(const struct pp_browser *browser, uint32_t thread)
{
	const struct pp_index_thread *row = pp_index_thread(browser->index, thread);
	const char *name = pp_index_thread_name(browser->index, thread);

	if (!row)
		return g_strdup("?");
	return *name ? pp_printable(g_strdup(name)) : g_strdup_printf("tid %u", row->tid);
}

GHashTable *pp_browser_count_names(const struct pp_index *index)
{
	GHashTable *counts = g_hash_table_new(g_str_hash, g_str_equal);

	for (uint64_t i = 0; i < pp_index_n(index, PP_SECTION_THREADS); i++) {
		char *name = (char *)pp_index_thread_name(index, i);
		gpointer n = g_hash_table_lookup(counts, name);

		g_hash_table_insert(counts, name, GUINT_TO_POINTER(GPOINTER_TO_UINT(n) + 1));
	}
	return counts;
}

char *pp_browser_thread_label(const struct pp_browser *browser, uint32_t thread)
{
	const struct pp_index_thread *row = pp_index_thread(browser->index, thread);
	const char *name = pp_index_thread_name(browser->index, thread);
	g_autofree char *shown = pp_browser_thread_name(browser, thread);

	if (row && *name && GPOINTER_TO_UINT(g_hash_table_lookup(browser->thread_names, name)) > 1)
		return g_strdup_printf("%u %s", row->tid, shown);
	return g_steal_pointer(&shown);
}

char *pp_browser_seconds(const struct pp_browser *browser, uint64_t time_ns, int decimals)
{
	int64_t since_ns = (int64_t)(time_ns - (uint64_t)browser->index->start_ns);

	return g_strdup_printf("%.*f", decimals, (double)since_ns / 1e9);
}

/*
 * Many objects without a name of their own share a name.  Their addresses distinguish them, and
 * pids those of several processes.
 */
char *pp_browser_object_label(struct pp_browser *browser, uint32_t number, bool with_type)
{
	const struct pp_index_object *object = pp_index_object(browser->index, number);
	const struct pp_process *process = object && browser->has_processes
					       ? pp_index_process(browser->index, object->process)
					       : NULL;
	const char *name = pp_browser_object_name(browser, number);
	const char *type = object ? pp_index_type(object) : "?";
	g_autofree char *pid = process ? g_strdup_printf("%u ", process->pid) : g_strdup("");
	g_autofree char *place = g_strdup_printf("%s at ", type);

	if (!object)
		return g_strdup(name);
	if (!with_type)
		type = "";
	if (object->subject != PP_INDEX_NONE || !g_str_has_prefix(name, place))
		return g_strdup_printf("%s%s%s%s", object->subject == PP_INDEX_NONE ? pid : "",
				       type, *type ? " " : "", name);
	return g_strdup_printf("%s%s%s..%03x %s", pid, type, *type ? " " : "",
			       (unsigned)(object->address & 0xfff), name + strlen(place));
}
