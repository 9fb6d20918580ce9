/* SPDX-License-Identifier: MIT */
/* The prediction as text: the paper's layout, and in words. */
#include <string.h>

#include "core/text/printable.h"
#include "pass/occ/columns.h"

/* A saved share below this is nothing. */
#define NOTHING_PCT 0.5

/* --- cells ---------------------------------------------------------------------------------- */

/* "0.187"; "-" if the cell is missing. */
static char *ratio(const struct pp_cell *cell)
{
	return cell->missing ? g_strdup("-") : g_strdup_printf("%.3f", cell->number);
}

static void append_ratio(GString *to, const char *before, const struct pp_cell *cell)
{
	g_autofree char *text = ratio(cell);

	g_string_append_printf(to, "%s%s", before, text);
}

static char *text_of(const struct pp_cell *cell)
{
	return pp_printable(g_strdup(cell->missing ? "?" : cell->text));
}

/* --- the paper's layout --------------------------------------------------------------------- */

static void append_sites(GString *to, const struct pp_table *sites)
{
	for (guint i = 0; i < sites->rows->len; i++) {
		g_autofree char *site = text_of(sites->rows->pdata[i]);

		g_string_append_printf(to, "  acquired at %s\n", site);
	}
}

static void append_threads(GString *to, const struct pp_table *threads)
{
	g_string_append_printf(to, "  %-20s %9s %9s %9s %9s %12s %11s %10s %13s\n", "thread",
			       "s_acq", "x_acq", "frac_wait", "frac_cs", "frac_release",
			       "occ_speedup", "with lines", "by waits only");
	for (guint i = 0; i < threads->rows->len; i++) {
		const struct pp_cell *row = threads->rows->pdata[i];
		g_autofree char *name = text_of(&row[PP_CELL_THREAD]);
		g_autofree char *title =
		    g_strdup_printf("%s (tid %" G_GUINT64_FORMAT ")", name, row[PP_CELL_TID].count);
		g_autofree char *wait = ratio(&row[PP_OCC_T_WAIT]);
		g_autofree char *in = ratio(&row[PP_OCC_T_CS]);
		g_autofree char *release = ratio(&row[PP_OCC_T_RELEASE]);
		g_autofree char *speedup = ratio(&row[PP_OCC_T_SPEEDUP]);
		g_autofree char *with_lines = ratio(&row[PP_OCC_T_SPEEDUP_LINES]);
		g_autofree char *paper = ratio(&row[PP_OCC_T_PAPER]);

		g_string_append_printf(to,
				       "  %-20s %9" G_GUINT64_FORMAT " %9" G_GUINT64_FORMAT
				       " %9s %9s %12s %11s %10s %13s\n",
				       title, row[PP_OCC_T_SHARED].count,
				       row[PP_OCC_T_EXCLUSIVE].count, wait, in, release, speedup,
				       with_lines, paper);
	}
}

static void append_section(GString *to, const struct pp_cell *row)
{
	g_autofree char *name = text_of(&row[PP_OCC_LOCK]);
	g_autofree char *type = text_of(&row[PP_OCC_LOCK_TYPE]);

	g_string_append_printf(to, "\n%s (%s)", name, type);
	if (!row[PP_OCC_LOCK_ADDRESS].missing)
		g_string_append_printf(to, " at 0x%" G_GINT64_MODIFIER "x",
				       row[PP_OCC_LOCK_ADDRESS].count);
	if (!row[PP_OCC_SAVED].missing)
		g_string_append_printf(to, ": saves %.1f %% (with lines %.1f %%)",
				       row[PP_OCC_SAVED].number, row[PP_OCC_SAVED_LINES].number);
	g_string_append_c(to, '\n');
	append_sites(to, row[PP_OCC_SECTION_SITES].table);
	append_ratio(to, "  rd ops ", &row[PP_OCC_RD_OPS]);
	append_ratio(to, "  wr ops ", &row[PP_OCC_WR_OPS]);
	append_ratio(to, "\n  rd-wr locations ", &row[PP_OCC_LOCS_RW]);
	append_ratio(to, "  rd locations ", &row[PP_OCC_LOCS_RD]);
	append_ratio(to, "\n  rd-wr cache lines ", &row[PP_OCC_CACHE_RW]);
	append_ratio(to, "  rd cache lines ", &row[PP_OCC_CACHE_RD]);
	append_ratio(to, "\n  waits ", &row[PP_OCC_WAITS]);
	append_ratio(to, "  conflict probability ", &row[PP_OCC_CONFLICT]);
	append_ratio(to, "  with lines ", &row[PP_OCC_CONFLICT_LINES]);
	append_ratio(to, "\n  intersect locations ", &row[PP_OCC_INTERSECT]);
	append_ratio(to, "  cache lines ", &row[PP_OCC_INTERSECT_LINES]);
	g_string_append_c(to, '\n');
	append_threads(to, row[PP_OCC_SECTION_THREADS].table);
}

char *pp_occ_text(const struct pp_table *table, const char *words)
{
	GString *text = g_string_new(NULL);

	if (words)
		g_string_append_printf(text, "%s\n", words);
	for (guint i = 0; i < table->rows->len; i++)
		append_section(text, table->rows->pdata[i]);
	return g_string_free(text, FALSE);
}

/* --- in words ------------------------------------------------------------------------------- */

/* Gives the reason for what the section saves. */
static void append_reason(GString *to, const struct pp_cell *row)
{
	g_autofree char *name = text_of(&row[PP_OCC_LOCK]);
	g_autofree char *site = text_of(&row[PP_OCC_ACQUIRED_AT]);

	g_string_append_printf(to,
			       "%s, acquired at %s: an acquisition waits for %.2f holders, and "
			       "conflicts with them with a probability of %.0f %%",
			       name, site, row[PP_OCC_WAITS].number,
			       100 * row[PP_OCC_CONFLICT].number);
	if (row[PP_OCC_CONFLICT_LINES].number > row[PP_OCC_CONFLICT].number + 0.005)
		g_string_append_printf(to,
				       " (%.0f %% if cache lines conflict: they access different "
				       "variables in the same lines)",
				       100 * row[PP_OCC_CONFLICT_LINES].number);
	g_string_append_c(to, '.');
}

/* The section with the longest waits that would save nothing. */
static const struct pp_cell *hopeless(const struct pp_table *table)
{
	const struct pp_cell *first = table->rows->len ? table->rows->pdata[0] : NULL;

	return first && !first[PP_OCC_CONFLICT].missing && first[PP_OCC_WAITS].number > 0 ? first
											  : NULL;
}

char *pp_occ_words(const struct pp_table *table, const struct pp_table *totals)
{
	const struct pp_cell *total = totals->rows->pdata[0], *lines = totals->rows->pdata[1];
	const struct pp_cell *first = table->rows->len ? table->rows->pdata[0] : NULL;
	GString *text = g_string_new(NULL);

	if (!first || total[PP_OCC_EFFICIENCY].missing) {
		g_string_append(text, "The gain is not known: no thread has a known time.");
	} else if (100 * total[PP_OCC_EFFICIENCY].number < NOTHING_PCT) {
		g_string_append(text, "Optimistic concurrency would gain nothing.");
		first = hopeless(table);
		if (first) {
			g_string_append(text, "\nThe longest waits are for ");
			append_reason(text, first);
		}
	} else {
		g_string_append_printf(text,
				       "Optimistic concurrency would save up to %.1f %% of the "
				       "threads' time (%.1f %% if cache lines conflict).\n"
				       "Most of it, %.1f %%, at ",
				       100 * total[PP_OCC_EFFICIENCY].number,
				       100 * lines[PP_OCC_EFFICIENCY].number,
				       first[PP_OCC_SAVED].number);
		append_reason(text, first);
	}
	return g_string_free(text, FALSE);
}
