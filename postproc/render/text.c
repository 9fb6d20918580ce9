/* SPDX-License-Identifier: MIT */
/* Tables as aligned text: numbers right-aligned, text left-aligned, missing values as "-". */
#include "render/render.h"

#include <limits.h>
#include <string.h>

#include "core/text/printable.h"
#include "render/fit.h"

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define PLAIN "\033[0m"
#define GAP   2

#define NOTE_INDENT 8 /* of a note's second line */

/* Texts keep this width as long as another column can be left out. */
#define READABLE      28
#define READABLE_PATH 44

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

/* `texts`: one string per column; NULL for columns that are never shown. */
static void append_line(GString *to, const struct pp_table *table, char *const *texts,
			const struct pp_fit_column *columns)
{
	unsigned last = 0;

	for (unsigned c = 0; c < table->n_columns; c++)
		if (columns[c].width)
			last = c;
	for (unsigned c = 0; c < table->n_columns; c++) {
		if (!columns[c].width)
			continue;
		append_blanks(to, GAP);
		append_padded(to, texts[c], columns[c].width, is_left(&table->columns[c]),
			      c == last);
	}
	g_string_append_c(to, '\n');
}

/* The cells of the rows as text, NULL in columns that are not shown. */
static GPtrArray *make_cells(const struct pp_table *table, const bool *shown, guint n_rows)
{
	GPtrArray *cells = g_ptr_array_new_with_free_func(g_free);

	for (guint r = 0; r < n_rows; r++) {
		const struct pp_cell *row = table->rows->pdata[r];

		for (unsigned c = 0; c < table->n_columns; c++)
			g_ptr_array_add(cells, shown[c] ? pp_printable(pp_cell_text(
							      &row[c], &table->columns[c]))
							: NULL);
	}
	return cells;
}

/* The order in which columns are left out: see enum pp_column_flags. */
static int weight_of(const struct pp_column *column, bool is_main, bool has_values)
{
	static const unsigned in_order[] = {PP_COLUMN_DETAIL, 0, PP_COLUMN_REPEATED, PP_COLUMN_MORE,
					    PP_COLUMN_STAYS};
	unsigned last = G_N_ELEMENTS(in_order) - 1, at = last;

	while (at > 0 && !(column->flags & in_order[at]))
		at--;
	if (at == 0 && !(column->flags & PP_COLUMN_DETAIL))
		at = is_main || column->flags & (PP_COLUMN_KEY | PP_COLUMN_ID) ? last : 1;
	if (at == last)
		return INT_MAX;
	return has_values ? (int)at : -1;
}

/* The widths of the cells, and of the titles. */
static struct pp_fit_column *measure(const struct pp_table *table, const bool *shown,
				     const GPtrArray *cells, guint n_rows)
{
	unsigned n = table->n_columns, main = pp_table_main_column(table);
	struct pp_fit_column *columns = g_new0(struct pp_fit_column, n);

	for (unsigned c = 0; c < n; c++) {
		const struct pp_column *column = &table->columns[c];
		bool has_values = false;

		if (!shown[c])
			continue;
		columns[c].width = width_of(column->title);
		columns[c].least = columns[c].width;
		for (guint r = 0; r < n_rows; r++) {
			const struct pp_cell *row = table->rows->pdata[r];

			has_values |= !row[c].missing;
			columns[c].width =
			    MAX(columns[c].width, width_of(cells->pdata[(gsize)r * n + c]));
		}
		if (!is_left(column))
			columns[c].least = columns[c].width;
		columns[c].readable = column->flags & PP_COLUMN_PATH ? READABLE_PATH : READABLE;
		columns[c].weight = weight_of(column, c == main, has_values);
	}
	return columns;
}

static void append_omitted(GString *to, const struct pp_table *table, const bool *shown,
			   const struct pp_fit_column *columns, const struct pp_text_style *style)
{
	g_autoptr(GPtrArray) titles = g_ptr_array_new();
	g_autoptr(GString) line = g_string_new("  left out: ");

	for (unsigned c = 0; c < table->n_columns; c++) {
		const char *title = table->columns[c].title;

		/* Waits and holds have the same percentiles. */
		if (!shown[c] || columns[c].width ||
		    g_ptr_array_find_with_equal_func(titles, title, g_str_equal, NULL))
			continue;
		g_string_append_printf(line, "%s%s", titles->len ? ", " : "", title);
		g_ptr_array_add(titles, (void *)title);
	}
	if (!titles->len || style->omits_silently)
		return;
	g_string_append(line, "; --wide shows all columns");
	pp_fit_wrap(to, line->str, style->width, NOTE_INDENT);
	g_string_append_c(to, '\n');
}

static void append_rest(GString *to, const struct pp_table *table, guint n_rows)
{
	if (n_rows < table->rows->len + table->n_left_out)
		g_string_append_printf(to, "  ... and %u more; --format json has them all\n",
				       table->rows->len + table->n_left_out - n_rows);
}

static void append_rows(GString *to, const struct pp_table *table,
			const struct pp_text_style *style)
{
	unsigned n = table->n_columns;
	guint n_rows =
	    table->text_rows ? MIN(table->text_rows, table->rows->len) : table->rows->len;
	g_autofree bool *shown = pp_table_columns_in_text(table);
	g_autoptr(GPtrArray) cells = make_cells(table, shown, n_rows);
	g_autofree struct pp_fit_column *columns = measure(table, shown, cells, n_rows);
	g_autofree char **titles = g_new0(char *, n);

	if (style->width)
		pp_fit_columns(columns, n, GAP, style->width);
	for (unsigned c = 0; c < n; c++)
		titles[c] = columns[c].width ? (char *)table->columns[c].title : NULL;
	for (guint i = 0; i < cells->len; i++)
		if (cells->pdata[i])
			cells->pdata[i] = pp_fit_cut(cells->pdata[i], columns[i % n].width,
						     table->columns[i % n].flags & PP_COLUMN_PATH);
	g_string_append(to, style->colour ? DIM : "");
	append_line(to, table, titles, columns);
	g_string_append(to, style->colour ? PLAIN : "");
	for (guint r = 0; r < n_rows; r++)
		append_line(to, table, (char *const *)cells->pdata + (gsize)r * n, columns);
	append_rest(to, table, n_rows);
	append_omitted(to, table, shown, columns, style);
}

/* The column in which the line's last part begins, if it has columns. */
static unsigned last_part(const char *line, unsigned width)
{
	unsigned at = NOTE_INDENT;

	for (const char *c = line; *c && c - line < width / 2; c++)
		if (c - line > 2 && *c != ' ' && c[-1] == ' ' && c[-2] == ' ')
			at = (unsigned)(c - line);
	return at;
}

static void append_lines(GString *to, const char *text, unsigned width)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line; line++) {
		*line = pp_printable(*line);
		g_string_append(to, line == lines ? "" : "\n");
		pp_fit_wrap(to, *line, width, last_part(*line, width));
	}
}

void pp_render_text(GString *to, const struct pp_table *table, const struct pp_text_style *style)
{
	g_string_append_printf(to, "%s%s%s\n\n", style->colour ? BOLD : "", table->title,
			       style->colour ? PLAIN : "");
	if (table->text)
		append_lines(to, table->text, style->width);
	else if (table->rows->len)
		append_rows(to, table, style);
	else
		g_string_append(to, "  none\n");
	if (table->notes->len)
		g_string_append_c(to, '\n');
	for (guint i = 0; i < table->notes->len; i++) {
		g_autofree char *note = pp_printable(
		    g_strconcat("  note: ", (const char *)table->notes->pdata[i], NULL));

		pp_fit_wrap(to, note, style->width, NOTE_INDENT);
		g_string_append_c(to, '\n');
	}
}
