/* SPDX-License-Identifier: MIT */
/*
 * gprof-mt complete threads DIR, gprof-mt complete settings: words for the completion of --thread
 * and --set, one in a line.  Internal: the shells' completions call it.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/thread_cells.h"
#include "cli/commands.h"
#include "cli/view.h"

static gint compare(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of a capture's threads, without those that threads gave themselves and did not record.
 */
static int print_threads(const char *dir)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_view view;

	if (pp_view_open(&view, dir, NULL, &err) < 0)
		return pp_cli_fail(&err);
	for (guint i = 0; i < view.capture->model->threads->len; i++)
		g_ptr_array_add(names, pp_thread_label(view.capture->model->threads->pdata[i]));
	g_ptr_array_sort(names, compare);
	for (guint i = 0; i < names->len; i++)
		if (*(char *)names->pdata[i] &&
		    (!i || compare(&names->pdata[i - 1], &names->pdata[i])))
			puts(names->pdata[i]);
	pp_view_done(&view);
	return PP_EXIT_GOOD;
}

static int print_settings(void)
{
	char settings[8192];

	if (gm_config_list(settings, sizeof(settings)) >= sizeof(settings))
		return PP_EXIT_FAILED;
	fputs(settings, stdout);
	return PP_EXIT_GOOD;
}

int pp_cmd_complete(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "threads") == 0)
		return print_threads(argv[2]);
	if (argc == 2 && strcmp(argv[1], "settings") == 0)
		return print_settings();
	return PP_EXIT_USAGE;
}
