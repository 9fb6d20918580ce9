/* SPDX-License-Identifier: MIT */
/* Says first, in words, which section touches what. */
#include "pass/accesses/accesses.h"

#define SECTIONS  3u
#define VARIABLES 3u

static const struct pp_column columns[] = {
    {"text", "", PP_TYPE_TEXT, 0, "a sentence"},
};

static const char *text_of(const struct pp_table *table, unsigned row, const char *key)
{
	const struct pp_cell *cell = pp_table_cell(table, row, key);

	return cell ? cell->text : "?";
}

static bool is_of(const struct pp_table *variables, unsigned at, const struct pp_access_row *row)
{
	return g_strcmp0(text_of(variables, at, "entry"), row->entry ? row->entry : "?") == 0 &&
	       g_strcmp0(text_of(variables, at, "lock"), row->lock) == 0;
}

/* "counter (written), table[].next and 3 more": those that are shared. */
static void append_shared(GString *to, const struct pp_table *variables,
			  const struct pp_access_row *row)
{
	unsigned n = 0, n_more = 0;

	for (unsigned i = 0; i < variables->rows->len; i++) {
		const struct pp_cell *shared = pp_table_cell(variables, i, "shared_pct");
		const struct pp_cell *written = pp_table_cell(variables, i, "writes");

		if (!is_of(variables, i, row) || !shared || !(shared->number > 0))
			continue;
		if (n == VARIABLES) {
			n_more++;
			continue;
		}
		g_string_append_printf(to, "%s%s%s",
				       n ? ", " : "; shared: ", text_of(variables, i, "variable"),
				       written && written->count ? " (written)" : "");
		n++;
	}
	if (n_more)
		g_string_append_printf(to, " and %u more", n_more);
	if (!n)
		g_string_append(to, "; nothing that another thread accesses in a section");
}

static void append_section(GString *to, const struct pp_table *variables,
			   const struct pp_access_row *row)
{
	double n = pp_access_n_known(&row->figures);
	uint64_t shared = row->sums.locations[0][1] + row->sums.locations[1][1];
	uint64_t all = row->sums.locations[0][0] + row->sums.locations[1][0] + shared;

	g_string_append_printf(to,
			       "%s, under %s: %.1f reads and %.1f writes of %.1f locations, "
			       "in %" G_GUINT64_FORMAT " instances",
			       row->entry ? row->entry : "an unknown call", row->lock,
			       (double)row->figures.reads / n, (double)row->figures.writes / n,
			       (double)all / n, row->figures.known[PP_ACCESSES_KNOWN]);
	append_shared(to, variables, row);
	g_string_append_c(to, '\n');
}

static void append_false_sharing(GString *to, const struct pp_table *lines)
{
	if (!lines->rows->len)
		return;
	g_string_append_printf(to,
			       "false sharing: %s, written at %s, is in one cache line with %s, ",
			       text_of(lines, 0, "writes"), text_of(lines, 0, "writes_at"),
			       text_of(lines, 0, "other"));
	g_string_append_printf(to, "accessed at %s by another thread",
			       text_of(lines, 0, "other_at"));
	if (lines->rows->len > 1)
		g_string_append_printf(to, "; so are %u more lines", lines->rows->len - 1);
	g_string_append_c(to, '\n');
}

struct pp_table *pp_access_words_table(const struct pp_access_pass *self,
				       const struct pp_table *variables,
				       const struct pp_table *false_sharing)
{
	g_autoptr(GPtrArray) rows = pp_access_rows_all(self);
	GString *text;
	struct pp_table *table;

	if (!self->all.known[PP_ACCESSES_KNOWN])
		return NULL;
	text = g_string_new(NULL);
	for (guint i = 0; i < MIN(rows->len, SECTIONS); i++) {
		const struct pp_access_row *row = rows->pdata[i];

		if (row->figures.known[PP_ACCESSES_KNOWN])
			append_section(text, variables, row);
	}
	append_false_sharing(text, false_sharing);
	table = pp_table_new("access_words", "What critical sections access", columns,
			     G_N_ELEMENTS(columns));
	table->is_for_text = true;
	table->text = g_string_free(text, FALSE);
	return table;
}
