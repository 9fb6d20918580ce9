/* SPDX-License-Identifier: MIT */
/* Tables as aligned text: numbers right-aligned, text left-aligned, missing values as "-". */
#include "render/render.h"

#include <string.h>

#include "core/text/printable.h"

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define PLAIN "\033[0m"
#define GAP   2

static bool is_shown(const struct pp_column *column)
{
	return !(column->flags & PP_COLUMN_JSON_ONLY) && column->type != PP_TYPE_TABLE;
}

static bool is_left(const struct pp_column *column)
{
	return column->type == PP_TYPE_TEXT && !(column->flags & PP_COLUMN_RIGHT);
}

static unsigned width_of(const char *text)
{
	return (unsigned)g_utf8_strlen(text, -1);
}

static void append_blanks(GString *to, unsigned n)
{
	g_string_append_printf(to, "%*s", (int)n, "");
}

static void append_padded(GString *to, const char *text, unsigned width, bool left, bool last)
{
	unsigned blanks = width - MIN(width, width_of(text));

	if (!left)
		append_blanks(to, blanks);
	g_string_append(to, text);
	if (left && !last)
		append_blanks(to, blanks);
}

/* `texts`: one string per column; NULL for columns that are not shown. */
static void append_line(GString *to, const struct pp_table *table, char *const *texts,
			const unsigned *widths)
{
	unsigned last = 0;

	for (unsigned c = 0; c < table->n_columns; c++)
		if (texts[c])
			last = c;
	for (unsigned c = 0; c < table->n_columns; c++) {
		if (!texts[c])
			continue;
		append_blanks(to, GAP);
		append_padded(to, texts[c], widths[c], is_left(&table->columns[c]), c == last);
	}
	g_string_append_c(to, '\n');
}

static void append_rows(GString *to, const struct pp_table *table, bool colour)
{
	unsigned n = table->n_columns;
	guint n_rows =
	    table->text_rows ? MIN(table->text_rows, table->rows->len) : table->rows->len;
	g_autofree unsigned *widths = g_new0(unsigned, n);
	g_autofree char **titles = g_new0(char *, n);
	GPtrArray *cells = g_ptr_array_new_with_free_func(g_free);

	for (unsigned c = 0; c < n; c++)
		if (is_shown(&table->columns[c])) {
			titles[c] = (char *)table->columns[c].title;
			widths[c] = width_of(titles[c]);
		}
	for (guint r = 0; r < n_rows; r++) {
		const struct pp_cell *row = table->rows->pdata[r];

		for (unsigned c = 0; c < n; c++) {
			char *text = NULL;

			if (titles[c]) {
				text = pp_printable(pp_cell_text(&row[c], &table->columns[c]));
				widths[c] = MAX(widths[c], width_of(text));
			}
			g_ptr_array_add(cells, text);
		}
	}
	g_string_append(to, colour ? DIM : "");
	append_line(to, table, titles, widths);
	g_string_append(to, colour ? PLAIN : "");
	for (guint r = 0; r < n_rows; r++)
		append_line(to, table, (char *const *)cells->pdata + (gsize)r * n, widths);
	if (n_rows < table->rows->len + table->n_left_out)
		g_string_append_printf(to, "  ... and %u more; --format json has them all\n",
				       table->rows->len + table->n_left_out - n_rows);
	g_ptr_array_unref(cells);
}

static void append_lines(GString *to, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line; line++)
		g_string_append_printf(to, line == lines ? "%s" : "\n%s", pp_printable(*line));
}

void pp_render_text(GString *to, const struct pp_table *table, bool colour)
{
	g_string_append_printf(to, "%s%s%s\n\n", colour ? BOLD : "", table->title,
			       colour ? PLAIN : "");
	if (table->text)
		append_lines(to, table->text);
	else if (table->rows->len)
		append_rows(to, table, colour);
	else
		g_string_append(to, "  none\n");
	if (table->notes->len)
		g_string_append_c(to, '\n');
	for (guint i = 0; i < table->notes->len; i++) {
		g_autofree char *note = pp_printable(g_strdup(table->notes->pdata[i]));

		g_string_append_printf(to, "  note: %s\n", note);
	}
}
