/* SPDX-License-Identifier: MIT */
/* The source lines around a call. */
#include "core/text/printable.h"
#include "core/source_file.h"
#include "tui/browser.h"

#define AROUND 200

static void add_lines(GPtrArray *lines, const char *text, int wanted)
{
	g_auto(GStrv) all = g_strsplit(text, "\n", -1);
	int n = (int)g_strv_length(all);

	for (int i = MAX(wanted - AROUND, 1); i <= MIN(wanted + AROUND, n); i++) {
		g_autofree char *line = pp_source_line(all[i - 1]);

		g_ptr_array_add(lines,
				g_strdup_printf("%c%5d  %s", i == wanted ? '>' : ' ', i, line));
	}
	if (wanted > n)
		g_ptr_array_add(lines, g_strdup_printf("it has no line %d: not the file that was "
						       "compiled",
						       wanted));
}

GPtrArray *pp_browser_source(struct pp_browser *browser)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	const struct pp_index_operation *operation =
	    pp_index_operation(browser->index, pp_browser_operation(browser));
	const struct pp_index_site *site =
	    operation ? pp_index_site(browser->index, operation->site) : NULL;
	const struct pp_process *process =
	    site ? pp_index_process(browser->index, site->process) : NULL;
	const struct pp_namer *namer = browser->namer;
	g_autofree char *path = NULL, *text = NULL;
	const char *why;
	int line = 0;

	if (process && namer && namer->source)
		path = namer->source(namer->data, process, site->address, &line);
	if (!path) {
		g_ptr_array_add(lines, g_strdup("no line information: build with -g"));
		return lines;
	}
	text = pp_source_file_read(path, false, &why);
	g_ptr_array_add(lines, pp_printable(g_strdup_printf("%s:%d%s%s", path, line,
							    text ? "" : ": ", text ? "" : why)));
	if (text)
		add_lines(lines, text, line);
	return lines;
}
