/* SPDX-License-Identifier: MIT */
/* A column keeps its width as long as possible; the widest texts are cut first. */
#include "render/fit.h"

#include <limits.h>
#include <string.h>

#define LEAST	 9 /* texts keep some characters around the ellipsis */
#define ELLIPSIS "..."

static unsigned total_of(const struct pp_fit_column *columns, unsigned n, unsigned gap)
{
	unsigned total = 0;

	for (unsigned i = 0; i < n; i++)
		total += columns[i].width ? gap + columns[i].width : 0;
	return total;
}

/* Cuts the widest texts, one character at a time. */
static void cut_texts(struct pp_fit_column *columns, unsigned n, unsigned gap, unsigned limit,
		      bool keep_readable)
{
	unsigned total = total_of(columns, n, gap);

	while (total > limit) {
		struct pp_fit_column *widest = NULL;

		for (unsigned i = 0; i < n; i++) {
			unsigned least =
			    MAX(columns[i].least, keep_readable ? columns[i].readable : LEAST);

			if (columns[i].width > least &&
			    (!widest || columns[i].width > widest->width))
				widest = &columns[i];
		}
		if (!widest)
			return;
		widest->width--;
		total--;
	}
}

/* The column to leave out next; NULL if all others stay. */
static struct pp_fit_column *find_lightest(struct pp_fit_column *columns, unsigned n)
{
	struct pp_fit_column *lightest = NULL;

	for (unsigned i = 0; i < n; i++)
		if (columns[i].width && columns[i].weight < INT_MAX &&
		    (!lightest || columns[i].weight <= lightest->weight))
			lightest = &columns[i];
	return lightest;
}

/* Restores columns that fit now, in the reverse order of their omission. */
static void restore_columns(struct pp_fit_column *columns, const struct pp_fit_column *all,
			    unsigned n, unsigned gap, unsigned limit)
{
	unsigned total = total_of(columns, n, gap);

	for (;;) {
		unsigned heaviest = n;

		for (unsigned i = 0; i < n; i++)
			if (!columns[i].width && all[i].width &&
			    total + gap + all[i].width <= limit &&
			    (heaviest == n || all[i].weight > all[heaviest].weight))
				heaviest = i;
		if (heaviest == n)
			return;
		columns[heaviest].width = all[heaviest].width;
		total += gap + all[heaviest].width;
	}
}

void pp_fit_columns(struct pp_fit_column *columns, unsigned n, unsigned gap, unsigned limit)
{
	g_autofree struct pp_fit_column *all = g_memdup2(columns, n * sizeof(*columns));
	g_autofree struct pp_fit_column *cut = NULL;

	for (;;) {
		struct pp_fit_column *lightest = find_lightest(columns, n);

		g_free(cut);
		cut = g_memdup2(columns, n * sizeof(*columns));
		cut_texts(cut, n, gap, limit, lightest);
		if (!lightest || total_of(cut, n, gap) <= limit)
			break;
		lightest->width = 0;
	}
	restore_columns(cut, all, n, gap, limit);
	memcpy(columns, cut, n * sizeof(*columns));
}

char *pp_fit_cut(char *text, unsigned width, bool at_end)
{
	glong len = g_utf8_strlen(text, -1);
	glong head, tail;
	char *cut;

	if (len <= (glong)width || width <= strlen(ELLIPSIS))
		return text;
	tail = at_end ? 0 : ((glong)width - (glong)strlen(ELLIPSIS)) / 2;
	head = (glong)width - (glong)strlen(ELLIPSIS) - tail;
	cut = g_strdup_printf("%.*s" ELLIPSIS "%s",
			      (int)(g_utf8_offset_to_pointer(text, head) - text), text,
			      g_utf8_offset_to_pointer(text, len - tail));
	g_free(text);
	return cut;
}

/* The end of the part that fits: before a blank if possible. */
static const char *find_break(const char *line, unsigned width)
{
	const char *end = g_utf8_offset_to_pointer(line, width);

	for (const char *c = end; c > line; c--)
		if (*c == ' ' && c[-1] != ' ')
			return c;
	return end;
}

void pp_fit_wrap(GString *to, const char *line, unsigned width, unsigned indent)
{
	unsigned room = width;

	while (width > indent && g_utf8_strlen(line, -1) > (glong)room) {
		/* The first part begins with its own blanks. */
		const char *words = line + strspn(line, " ");
		unsigned blanks = (unsigned)(words - line);
		const char *end = blanks < room ? find_break(words, room - blanks) : words;

		g_string_append_len(to, line, end - line);
		g_string_append_printf(to, "\n%*s", (int)indent, "");
		line = end + strspn(end, " ");
		room = width - indent;
	}
	g_string_append(to, line);
}
