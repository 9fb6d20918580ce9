/* SPDX-License-Identifier: MIT */
/* A capture is a directory with a file "session". */
#include "cli/budget/sides.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_capture(const char *dir)
{
	g_autofree char *session = g_build_filename(dir, "session", NULL);

	return g_file_test(session, G_FILE_TEST_EXISTS);
}

static gint by_name(gconstpointer x, gconstpointer y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* Adds the captures in the folder, by name. */
static void add_folder(GPtrArray *dirs, const char *folder)
{
	GDir *dir = g_dir_open(folder, 0, NULL);
	guint first = dirs->len;

	for (const char *name; dir && (name = g_dir_read_name(dir));) {
		g_autofree char *path = g_build_filename(folder, name, NULL);

		if (is_capture(path))
			g_ptr_array_add(dirs, g_steal_pointer(&path));
	}
	if (dir)
		g_dir_close(dir);
	if (dirs->len == first)
		g_ptr_array_add(dirs, g_strdup(folder));
	else
		qsort(dirs->pdata + first, dirs->len - first, sizeof(*dirs->pdata), by_name);
}

static void add_part(GPtrArray *dirs, const char *part)
{
	if (is_capture(part))
		g_ptr_array_add(dirs, g_strdup(part));
	else
		add_folder(dirs, part);
}

GPtrArray *pp_cli_budget_side(const char *word)
{
	GPtrArray *dirs = g_ptr_array_new_with_free_func(g_free);
	g_auto(GStrv) parts = NULL;

	if (g_file_test(word, G_FILE_TEST_EXISTS)) {
		add_part(dirs, word);
		return dirs;
	}
	parts = g_strsplit(word, ",", -1);
	for (guint i = 0; parts[i]; i++)
		if (*parts[i])
			add_part(dirs, parts[i]);
	if (!dirs->len)
		g_ptr_array_add(dirs, g_strdup(word));
	return dirs;
}
