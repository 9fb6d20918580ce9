/* SPDX-License-Identifier: MIT */
/* The registered passes as sections: the list in the help text, and look-up by name. */
#include "cli/sections.h"

#include <stdio.h>

#include "cli/commands.h"

/* Prints two columns; the second half of the sections is on the right. */
void pp_cli_sections_help(void)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new();
	guint lines;

	for (unsigned i = 0; pp_passes[i]; i++)
		if (pp_passes[i]->summary)
			g_ptr_array_add(all, (void *)pp_passes[i]);
	lines = (all->len + 1) / 2;
	printf("sections (* by default):\n");
	for (guint i = 0; i < lines; i++) {
		const struct pp_pass *left = all->pdata[i];

		printf("%c %-10s  %-*s", left->is_default ? '*' : ' ', left->name,
		       lines + i < all->len ? 27 : 0, left->summary);
		if (lines + i < all->len) {
			const struct pp_pass *right = all->pdata[lines + i];

			printf("%c %-13s  %s", right->is_default ? '*' : ' ', right->name,
			       right->summary);
		}
		putchar('\n');
	}
}

static bool is_section(const char *name)
{
	const struct pp_pass *pass = pp_pass_find(name);

	return pass && pass->summary;
}

static char *list_of_sections(void)
{
	GString *list = g_string_new(NULL);

	for (unsigned i = 0; pp_passes[i]; i++)
		if (pp_passes[i]->summary)
			g_string_append_printf(list, "%s%s", list->len ? ", " : "",
					       pp_passes[i]->name);
	return g_string_free(list, FALSE);
}

static int refuse(const char *command, const char *name)
{
	g_autofree char *sections = list_of_sections();

	if (g_str_equal(command, "report") && g_file_test(name, G_FILE_TEST_IS_DIR))
		return pp_cli_usage(command,
				    "no section '%s'; to read the capture in that directory, add "
				    "-i before its name",
				    name);
	return pp_cli_usage(command, "no section '%s'; the sections are %s", name, sections);
}

int pp_cli_sections_take(const char *command, GPtrArray *sections, char **names, int n_names)
{
	for (int i = 0; i < n_names; i++) {
		if (!is_section(names[i]))
			return refuse(command, names[i]);
		if (!g_ptr_array_find_with_equal_func(sections, names[i], g_str_equal, NULL))
			g_ptr_array_add(sections, names[i]);
	}
	for (unsigned i = 0; n_names == 0 && pp_passes[i]; i++)
		if (pp_passes[i]->is_default)
			g_ptr_array_add(sections, (char *)pp_passes[i]->name);
	return PP_EXIT_GOOD;
}

unsigned pp_cli_sections_heed(const GPtrArray *sections)
{
	unsigned by = 0;

	for (guint i = 0; i < sections->len; i++)
		by |= pp_pass_find(sections->pdata[i])->selects;
	return by;
}

GPtrArray *pp_cli_sections_tables(const struct pp_view *view, const GPtrArray *sections)
{
	GPtrArray *tables = g_ptr_array_new();

	for (guint i = 0; i < sections->len; i++) {
		unsigned n = 0;
		struct pp_table **found = pp_pass_set_tables(view->passes, sections->pdata[i], &n);

		for (unsigned t = 0; t < n; t++)
			g_ptr_array_add(tables, found[t]);
	}
	return tables;
}
