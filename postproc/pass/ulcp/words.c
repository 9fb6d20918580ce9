/* SPDX-License-Identifier: MIT */
/* Says first, in words, how much of the contention is unnecessary, and where. */
#include <string.h>

#include "core/text/share.h"
#include "pass/ulcp/ulcp.h"

#define WORDS_PAIRS 3u

static const struct pp_column columns[] = {
    {"text", "", PP_TYPE_TEXT, 0, "a sentence"},
};

struct part {
	uint64_t n;
	const char *what;
};

/* "5 null-lock, 3 read-read": those that are not 0, in the order of the array. */
static void append_parts(GString *to, const struct part *parts, unsigned n)
{
	const char *comma = "";

	for (unsigned i = 0; i < n; i++) {
		if (!parts[i].n)
			continue;
		g_string_append_printf(to, "%s%" G_GUINT64_FORMAT " %s", comma, parts[i].n,
				       parts[i].what);
		comma = ", ";
	}
}

static char *share_of(const struct pp_ulcp_figures *figures)
{
	return pp_share_text(pp_ulcp_figures_n_unnecessary(figures), pp_ulcp_figures_n(figures));
}

static void append_unnecessary(GString *to, const struct pp_ulcp_figures *figures)
{
	const struct part parts[] = {
	    {figures->pairs[PP_ULCP_NULL_LOCK], "null-lock"},
	    {figures->pairs[PP_ULCP_READ_READ], "read-read"},
	    {figures->pairs[PP_ULCP_DISJOINT_WRITE], "disjoint-write"},
	    {figures->pairs[PP_ULCP_BENIGN], "benign"},
	};

	if (!pp_ulcp_figures_n_unnecessary(figures))
		return;
	g_string_append(to, " (");
	append_parts(to, parts, G_N_ELEMENTS(parts));
	g_string_append(to, ")");
}

static void append_undecided(GString *to, const struct pp_ulcp_figures *figures)
{
	const struct part parts[] = {
	    {figures->undecided[PP_ULCP_UPDATE], "update the same bytes"},
	    {figures->undecided[PP_ULCP_FLAG], "poll and set a flag"},
	    {figures->undecided[PP_ULCP_UNKNOWN], "have accesses that are not known"},
	    {figures->undecided[PP_ULCP_ORDER], "have an order that is not known"},
	};

	if (!figures->pairs[PP_ULCP_UNDECIDED])
		return;
	g_string_append_printf(to, "; %" G_GUINT64_FORMAT " are undecided (",
			       figures->pairs[PP_ULCP_UNDECIDED]);
	append_parts(to, parts, G_N_ELEMENTS(parts));
	g_string_append(to, ")");
}

static void append_all(GString *to, const struct pp_ulcp_rows *rows)
{
	struct pp_ulcp_figures all = {{0}, {0}};
	g_autofree char *share = NULL;

	for (guint i = 0; i < rows->processes->len; i++)
		pp_ulcp_figures_add(
		    &all, &((const struct pp_ulcp_row *)rows->processes->pdata[i])->sums.figures);
	share = share_of(&all);
	g_string_append_printf(to,
			       "%s of %" G_GUINT64_FORMAT
			       " consecutive pairs of critical sections of different threads need "
			       "not exclude each other",
			       share, pp_ulcp_figures_n(&all));
	append_unnecessary(to, &all);
	append_undecided(to, &all);
	g_string_append_c(to, '\n');
}

static void append_pair(GString *to, const struct pp_ulcp_row *row)
{
	const struct pp_ulcp_figures *figures = &row->sums.figures;
	bool is_one = strcmp(row->first, row->second) == 0;
	g_autofree char *share = share_of(figures);

	g_string_append_printf(to, "%s%s%s, under %s: %s of %" G_GUINT64_FORMAT " pairs",
			       row->first, is_one ? "" : " and ", is_one ? "" : row->second,
			       row->lock, share, pp_ulcp_figures_n(figures));
	append_unnecessary(to, figures);
	append_undecided(to, figures);
	g_string_append_c(to, '\n');
}

struct pp_table *pp_ulcp_words_table(const struct pp_ulcp_rows *rows)
{
	struct pp_table *table;
	GString *text;

	if (!rows->pairs->len)
		return NULL;
	text = g_string_new(NULL);
	append_all(text, rows);
	for (guint i = 0; i < MIN(rows->pairs->len, WORDS_PAIRS); i++)
		if (pp_ulcp_figures_n_unnecessary(
			&((const struct pp_ulcp_row *)rows->pairs->pdata[i])->sums.figures))
			append_pair(text, rows->pairs->pdata[i]);
	table = pp_table_new("ulcp_words", "How much contention is unnecessary", columns,
			     G_N_ELEMENTS(columns));
	table->is_for_text = true;
	table->text = g_string_free(text, FALSE);
	return table;
}
