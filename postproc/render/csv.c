/* SPDX-License-Identifier: MIT */
/*
 * RFC 4180, but lines end in LF, which all common readers accept.
 *
 * Text is always quoted and nothing else is: an empty text thus differs from a missing cell, and a
 * thread named 007 is not a number.  Spreadsheets take text that begins with = + - @ for a formula,
 * quoted or not, and a capture may come from an untrusted source: such text gets a leading '.  Text
 * that begins with ' gets one, too, so that readers can remove it unambiguously.
 */
#include "render/render.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/printable.h"

static bool is_shown(const struct pp_column *column)
{
	return !(column->flags & PP_COLUMN_TEXT_ONLY) && column->type != PP_TYPE_TABLE;
}

static void append_text(GString *to, const char *text)
{
	g_autofree char *printable = pp_printable(g_strdup(text));

	g_string_append_c(to, '"');
	if (*printable && strchr("=+-@'", *printable))
		g_string_append_c(to, '\'');
	for (const char *c = printable; *c; c++) {
		if (*c == '"')
			g_string_append_c(to, '"');
		g_string_append_c(to, *c);
	}
	g_string_append_c(to, '"');
}

/* Uses the fewest digits that restore the same number. */
static void append_number(GString *to, double number)
{
	static const char *const formats[] = {"%.15g", "%.16g", "%.17g"};
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	if (!isfinite(number))
		return;
	for (unsigned i = 0; i < G_N_ELEMENTS(formats); i++) {
		g_ascii_formatd(text, sizeof(text), formats[i], number);
		if (g_ascii_strtod(text, NULL) == number)
			break;
	}
	g_string_append(to, text);
}

static void append_cell(GString *to, const struct pp_cell *cell, enum pp_type type)
{
	if (cell->missing)
		return;
	switch (type) {
	case PP_TYPE_TEXT:
		append_text(to, cell->text);
		break;
	case PP_TYPE_COUNT:
		g_string_append_printf(to, "%" PRIu64, cell->count);
		break;
	case PP_TYPE_INTEGER:
		g_string_append_printf(to, "%" PRId64, cell->integer);
		break;
	case PP_TYPE_TIME_NS:
		g_string_append_printf(to, "%" PRId64, cell->time_ns);
		break;
	case PP_TYPE_SECONDS:
	case PP_TYPE_PERCENT:
	case PP_TYPE_RATIO:
		append_number(to, cell->number);
		break;
	case PP_TYPE_ADDRESS:
		g_string_append_printf(to, "\"0x%" PRIx64 "\"", cell->count);
		break;
	case PP_TYPE_BOOL:
		g_string_append(to, cell->truth ? "true" : "false");
		break;
	case PP_TYPE_TABLE:
		break;
	}
}

void pp_render_csv_head(GString *to, const struct pp_table *table)
{
	const char *comma = "";

	for (unsigned c = 0; c < table->n_columns; c++)
		if (is_shown(&table->columns[c])) {
			g_string_append_printf(to, "%s%s", comma, table->columns[c].key);
			comma = ",";
		}
	g_string_append_c(to, '\n');
}

void pp_render_csv_rows(GString *to, const struct pp_table *table)
{
	for (guint r = 0; r < table->rows->len; r++) {
		const struct pp_cell *row = table->rows->pdata[r];
		const char *comma = "";

		for (unsigned c = 0; c < table->n_columns; c++)
			if (is_shown(&table->columns[c])) {
				g_string_append(to, comma);
				append_cell(to, &row[c], table->columns[c].type);
				comma = ",";
			}
		g_string_append_c(to, '\n');
	}
}
