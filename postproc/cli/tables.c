/* SPDX-License-Identifier: MIT */
/* Selects the tables to print, and passes each to the renderer of the format. */
#include "cli/tables.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "cli/view.h"
#include "core/text/printable.h"
#include "table/flat.h"
#include "render/render.h"

static int take_top(const char *command, const char *value, struct pp_cli_tables *how)
{
	guint64 top;

	if (!g_ascii_string_to_unsigned(value, 10, 0, UINT_MAX, &top, NULL))
		return pp_cli_usage(command, "--top %s: not a number", value);
	how->top = (unsigned)top;
	how->has_top = true;
	return PP_EXIT_GOOD;
}

bool pp_cli_tables_take(const char *command, struct pp_cli_tables *how, int option,
			const char *value, int *ret_status)
{
	*ret_status = PP_EXIT_GOOD;
	switch (option) {
	case PP_CLI_TABLES_FORMAT:
		*ret_status = pp_cli_take_format(command, value, &how->format);
		return true;
	case PP_CLI_TABLES_TABLE:
		how->key = value;
		return true;
	case PP_CLI_TABLES_OUTPUT:
		how->dir = value;
		return true;
	case PP_CLI_TABLES_TOP:
		*ret_status = take_top(command, value, how);
		return true;
	default:
		return false;
	}
}

int pp_cli_tables_check(const char *command, const struct pp_cli_tables *how, unsigned n_sections)
{
	if (how->format != PP_CLI_CSV && (how->key || how->dir))
		return pp_cli_usage(command, "%s is for --format csv",
				    how->key ? "--table" : "--output");
	if (how->key && how->dir)
		return pp_cli_usage(command, "--table and --output exclude each other");
	if (how->format == PP_CLI_CSV && n_sections != 1 && !how->key && !how->dir)
		return pp_cli_usage(command, "csv contains one table: name one section or a "
					     "--table, or write all tables with --output DIR");
	return PP_EXIT_GOOD;
}

/* --- CSV ------------------------------------------------------------------------------------ */

/* True if the table is nested: "locks.sites" in "locks". */
static bool is_in(const char *key, const char *table)
{
	size_t len = strlen(table);

	return strncmp(key, table, len) == 0 && (key[len] == '\0' || key[len] == '.');
}

/* Prints the notes of the table that contains `key`; NULL: of all tables. */
static void print_notes(struct pp_table *const *tables, unsigned n_tables, const char *key)
{
	for (unsigned t = 0; t < n_tables; t++)
		for (guint i = 0; (!key || is_in(key, tables[t]->key)) && i < tables[t]->notes->len;
		     i++) {
			g_autofree char *note = pp_printable(g_strdup(tables[t]->notes->pdata[i]));

			fprintf(stderr, "gprof-mt: %s: %s\n", tables[t]->key, note);
		}
}

/* "a, b, c": the keys of all other tables.  The caller frees the text. */
static char *other_keys(const struct pp_flat_tables *flat, const struct pp_table *but)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < flat->all->len; i++) {
		const struct pp_table *table = flat->all->pdata[i];

		if (table != but)
			g_string_append_printf(text, "%s%s", text->len ? ", " : "", table->key);
	}
	return g_string_free(text, FALSE);
}

static void append_csv(GString *to, const struct pp_table *table)
{
	pp_render_csv_head(to, table);
	pp_render_csv_rows(to, table);
}

static int print_one(const struct pp_cli_tables *how, const struct pp_flat_tables *flat,
		     struct pp_table *const *tables, unsigned n_tables)
{
	const struct pp_table *table = flat->all->len == 0 ? NULL
				       : how->key	   ? pp_flat_tables_find(flat, how->key)
							   : flat->all->pdata[0];
	g_autofree char *others = other_keys(flat, table);
	g_autoptr(GString) text = g_string_new(NULL);
	struct pp_error err = PP_ERROR_INIT;
	int status;

	if (!table) {
		pp_error_add(&err, -ENOENT, "no table '%s' in these sections (expected %s)",
			     how->key, others);
		return pp_cli_fail(&err);
	}
	append_csv(text, table);
	status = pp_cli_print(text);
	print_notes(tables, n_tables, table->key);
	if (!how->key && *others)
		fprintf(stderr,
			"gprof-mt: only table %s is printed; --table or --output selects the "
			"others: %s\n",
			table->key, others);
	return status;
}

static int write_file(const char *dir, const struct pp_table *table, struct pp_error *err)
{
	g_autofree char *path = g_strdup_printf("%s/%s.csv", dir, table->key);
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GError) failure = NULL;

	append_csv(text, table);
	if (g_file_set_contents_full(path, text->str, (gssize)text->len,
				     G_FILE_SET_CONTENTS_CONSISTENT, 0666, &failure))
		return 0;
	return pp_error_add(err, -EIO, "%s", failure->message);
}

static int write_all(const char *dir, const struct pp_flat_tables *flat)
{
	struct pp_error err = PP_ERROR_INIT;
	int ret = 0;

	if (g_mkdir(dir, 0777) < 0 && errno != EEXIST)
		ret = pp_error_add(&err, -errno, "%s: %s", dir, g_strerror(errno));
	for (guint i = 0; ret == 0 && i < flat->all->len; i++)
		ret = write_file(dir, flat->all->pdata[i], &err);
	return ret < 0 ? pp_cli_fail(&err) : PP_EXIT_GOOD;
}

static int print_csv(const struct pp_cli_tables *how, struct pp_table *const *tables,
		     unsigned n_tables)
{
	struct pp_flat_tables flat;
	int status;

	pp_flat_tables_init(&flat, tables, n_tables);
	if (how->dir) {
		status = write_all(how->dir, &flat);
		if (status == PP_EXIT_GOOD)
			print_notes(tables, n_tables, NULL);
	} else {
		status = print_one(how, &flat, tables, n_tables);
	}
	pp_flat_tables_done(&flat);
	return status;
}

/* -------------------------------------------------------------------------------------------- */

void pp_cli_append_row(GString *to, enum pp_cli_format format, const struct pp_table *table,
		       bool is_first)
{
	if (format == PP_CLI_CSV) {
		if (is_first)
			pp_render_csv_head(to, table);
		pp_render_csv_rows(to, table);
		return;
	}
	g_string_append(to, is_first ? "\n  " : ",\n  ");
	pp_render_json_row(to, table, 0);
}

static bool print_part(void *status, GString *part)
{
	pp_cli_print_batch(part, 0, status);
	return *(int *)status == PP_EXIT_GOOD;
}

static int print_json(struct pp_table *const *tables, unsigned n_tables)
{
	g_autoptr(GString) text = g_string_new(NULL);
	int status = PP_EXIT_GOOD;

	pp_render_json_parts(text, tables, n_tables, print_part, &status);
	return status == PP_EXIT_GOOD ? pp_cli_print(text) : status;
}

int pp_cli_tables_print(const struct pp_cli_tables *how, struct pp_table *const *tables,
			unsigned n_tables)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct pp_text_style style = pp_cli_text_style();

	if (how->format == PP_CLI_CSV)
		return print_csv(how, tables, n_tables);
	if (how->format == PP_CLI_JSON)
		return print_json(tables, n_tables);
	for (unsigned i = 0; i < n_tables; i++) {
		if (tables[i]->is_for_programs)
			continue;
		if (text->len)
			g_string_append_c(text, '\n');
		pp_render_text(text, tables[i], &style);
	}
	return pp_cli_print(text);
}
