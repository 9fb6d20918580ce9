/* SPDX-License-Identifier: MIT */
/*
 * See page.h.  Text comes from captures, which may be hostile: all of it is made printable and
 * escaped, and the page may load nothing and run nothing.
 */
#include "render/page.h"

#include "core/text/printable.h"

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<style>\n"
    ":root { color-scheme: light dark; }\n"
    "body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 75em; "
    "padding: 0 1em; }\n"
    "h1 { font-size: 1.5em; } h2 { font-size: 1.2em; margin-top: 2em; }\n"
    ".words { font-size: 1.1em; white-space: pre-line; }\n"
    ".wide { overflow-x: auto; }\n"
    "table { border-collapse: collapse; font-variant-numeric: tabular-nums; }\n"
    "th, td { padding: .15em .7em .15em 0; text-align: right; vertical-align: top; }\n"
    "th { font-weight: 600; border-bottom: 1px solid; }\n"
    ".text { text-align: left; overflow-wrap: anywhere; }\n"
    ".nested { text-align: left; padding: 0 0 1em 2em; }\n"
    ".nested table { font-size: .93em; margin-top: .4em; }\n"
    "ul { padding-left: 1.2em; }\n"
    "h3 { font-size: 1.05em; margin-top: 2em; overflow-wrap: anywhere; }\n"
    "dl { display: grid; grid-template-columns: 8em minmax(0, 1fr); gap: .2em 1em; }\n"
    "dt { font-weight: 600; } dd { grid-column: 2; margin: 0; overflow-wrap: anywhere; }\n"
    "pre { font-size: .9em; margin: .2em 0; overflow-x: auto; }\n"
    "pre .marked { font-weight: 700; }\n"
    "</style>\n";

void pp_render_escaped(GString *to, const char *text)
{
	g_autofree char *printable = pp_printable(g_strdup(text));
	g_autofree char *escaped = g_markup_escape_text(printable, -1);

	g_string_append(to, escaped);
}

/* Line feeds of the words are kept, each line is made printable by itself. */
static void append_words(GString *to, const char *words)
{
	g_auto(GStrv) lines = g_strsplit(words, "\n", -1);

	g_string_append(to, "<p class=\"words\">");
	for (unsigned i = 0; lines[i]; i++) {
		if (i)
			g_string_append_c(to, '\n');
		pp_render_escaped(to, lines[i]);
	}
	g_string_append(to, "</p>\n");
}

/* --- tables --------------------------------------------------------------------------------- */

static void append_cell(GString *to, const char *element, const struct pp_column *column,
			const char *text)
{
	g_string_append_printf(to, "<%s%s", element,
			       column->type == PP_TYPE_TEXT ? " class=\"text\"" : "");
	if (*element == 't' && element[1] == 'h') {
		g_string_append(to, " title=\"");
		pp_render_escaped(to, column->help);
		g_string_append_c(to, '"');
	}
	g_string_append_c(to, '>');
	pp_render_escaped(to, text);
	g_string_append_printf(to, "</%s>", element);
}

static unsigned append_titles(GString *to, const struct pp_table *table, const bool *shown)
{
	unsigned n_shown = 0;

	g_string_append(to, "<thead><tr>");
	for (unsigned c = 0; c < table->n_columns; c++) {
		if (!shown[c])
			continue;
		append_cell(to, "th", &table->columns[c], table->columns[c].title);
		n_shown++;
	}
	g_string_append(to, "</tr></thead>\n");
	return n_shown;
}

static void append_row(GString *to, const struct pp_table *table, const bool *shown,
		       const struct pp_cell *row)
{
	g_string_append(to, "<tr>");
	for (unsigned c = 0; c < table->n_columns; c++) {
		g_autofree char *text = NULL;

		if (!shown[c])
			continue;
		text = pp_cell_text(&row[c], &table->columns[c]);
		append_cell(to, "td", &table->columns[c], text);
	}
	g_string_append(to, "</tr>\n");
}

/* A table without nested ones. */
static void append_flat(GString *to, const struct pp_table *table)
{
	g_autofree bool *shown = pp_table_columns_in_text(table);

	g_string_append(to, "<table>\n");
	append_titles(to, table, shown);
	g_string_append(to, "<tbody>\n");
	for (guint i = 0; i < table->rows->len; i++)
		append_row(to, table, shown, table->rows->pdata[i]);
	g_string_append(to, "</tbody></table>\n");
}

static void append_nested(GString *to, const struct pp_table *table, const struct pp_cell *row,
			  unsigned n_shown)
{
	g_string_append_printf(to, "<tr><td class=\"nested\" colspan=\"%u\">\n", n_shown);
	for (unsigned c = 0; c < table->n_columns; c++)
		if (table->columns[c].type == PP_TYPE_TABLE && !row[c].missing &&
		    row[c].table->rows->len)
			append_flat(to, row[c].table);
	g_string_append(to, "</td></tr>\n");
}

static bool has_nested(const struct pp_table *table)
{
	for (unsigned c = 0; c < table->n_columns; c++)
		if (table->columns[c].type == PP_TYPE_TABLE)
			return true;
	return false;
}

static void append_table(GString *to, const struct pp_table *table)
{
	g_autofree bool *shown = pp_table_columns_in_text(table);
	bool nested = has_nested(table);
	unsigned n_shown;

	if (!table->rows->len) {
		g_string_append(to, "<p>none</p>\n");
		return;
	}
	g_string_append(to, "<div class=\"wide\"><table>\n");
	n_shown = append_titles(to, table, shown);
	g_string_append(to, "<tbody>\n");
	for (guint i = 0; i < table->rows->len; i++) {
		append_row(to, table, shown, table->rows->pdata[i]);
		if (nested)
			append_nested(to, table, table->rows->pdata[i], n_shown);
	}
	g_string_append(to, "</tbody></table></div>\n");
}

void pp_render_page_notes(GString *to, const struct pp_table *table)
{
	if (!table->notes->len)
		return;
	g_string_append(to, "<ul>\n");
	for (guint i = 0; i < table->notes->len; i++) {
		g_string_append(to, "<li>");
		pp_render_escaped(to, table->notes->pdata[i]);
		g_string_append(to, "</li>\n");
	}
	g_string_append(to, "</ul>\n");
}

void pp_render_page(GString *to, const struct pp_page *page, struct pp_table *const *tables,
		    unsigned n_tables)
{
	g_string_append(to, head);
	g_string_append(to, "<title>");
	pp_render_escaped(to, page->title);
	g_string_append(to, "</title>\n</head>\n<body>\n<h1>");
	pp_render_escaped(to, page->title);
	g_string_append(to, "</h1>\n");
	if (page->words)
		append_words(to, page->words);
	if (page->figure)
		g_string_append(to, page->figure);
	for (unsigned t = 0; t < n_tables; t++) {
		if (tables[t]->is_for_programs)
			continue;
		g_string_append(to, "<h2>");
		pp_render_escaped(to, tables[t]->title);
		g_string_append(to, "</h2>\n");
		append_table(to, tables[t]);
		pp_render_page_notes(to, tables[t]);
	}
	g_string_append(to, "</body>\n</html>\n");
}
