/* SPDX-License-Identifier: MIT */
/*
 * A suggestion has more texts than a row of a table can hold, so it is a card; the proof is tables.
 * The words above both take their figures from the tables.
 */
#include "cli/suggest/page.h"

#include <string.h>

#include "cli/suggest/items.h"
#include "export/out.h"
#include "render/card.h"
#include "render/page.h"

static const struct pp_table *find(const GPtrArray *tables, const char *key)
{
	for (guint i = 0; i < tables->len; i++)
		if (strcmp(((const struct pp_table *)tables->pdata[i])->key, key) == 0)
			return tables->pdata[i];
	return NULL;
}

static guint rows_of(const GPtrArray *tables, const char *key)
{
	const struct pp_table *table = find(tables, key);

	return table ? table->rows->len : 0;
}

/* --- words ------------------------------------------------------------------------------------ */

static void append_captures(GString *words, const char *name, const struct pp_suggest_runs *runs)
{
	g_string_append(words, name);
	for (guint i = 0; i < runs->all->len; i++) {
		const struct pp_suggest_run *run = runs->all->pdata[i];

		g_string_append_printf(words, "%s %s%s", i ? "," : "", run->dir,
				       run->has_accesses ? " (with memory accesses)" : "");
	}
	g_string_append(words, ".");
}

static void append_truth(GString *words, const struct pp_table *truth)
{
	const struct pp_cell *predicted = pp_table_cell(truth, 0, "predicted_pct");
	const struct pp_cell *real = pp_table_cell(truth, 0, "real_pct");

	g_string_append(words, "\nThe change of the run time");
	if (predicted)
		g_string_append_printf(words, " was predicted as %+.1f %%", predicted->number);
	else
		g_string_append(words, " was not predicted");
	if (real)
		g_string_append_printf(words, ", and is %+.1f %%.", real->number);
	else
		g_string_append(words, ", and is not known.");
}

static void append_difference(GString *words, const GPtrArray *tables,
			      const struct pp_suggest_runs *after)
{
	const struct pp_table *contention = find(tables, "contention");
	unsigned n_gone = 0, n_all = 0;

	if (!contention || !after)
		return;
	for (guint i = 0; i < contention->rows->len; i++) {
		const struct pp_cell *result = pp_table_cell(contention, i, "result");

		if (!pp_table_cell(contention, i, "lock") || !result ||
		    strcmp(result->text, "new") == 0)
			continue;
		n_all++;
		n_gone += g_str_has_prefix(result->text, "gone");
	}
	g_string_append_printf(words, "\nNew cycles of locks: %u.", rows_of(tables, "new_cycles"));
	if (after->facts.n_runs)
		g_string_append_printf(words,
				       " New conflicts: %u. Patterns that are gone: %u of %u.",
				       rows_of(tables, "new_conflicts"), n_gone, n_all);
	else
		g_string_append(words, " New conflicts and patterns that are gone: not known, as "
				       "no capture of the changed program has memory accesses.");
}

static char *words_of(const struct pp_suggest_runs *runs, const struct pp_suggest_runs *after,
		      const GPtrArray *tables)
{
	const struct pp_table *truth = find(tables, "truth");
	GString *words = g_string_new(NULL);

	append_captures(words, "Captures:", runs);
	if (after)
		append_captures(words, "\nCaptures of the changed program:", after);
	if (truth)
		append_truth(words, truth);
	append_difference(words, tables, after);
	return g_string_free(words, FALSE);
}

/* --- cards ------------------------------------------------------------------------------------ */

static void append_card(GString *to, unsigned number, const struct pp_suggest_runs *runs,
			const struct pp_suggestion *suggestion)
{
	g_autoptr(GPtrArray) items = pp_suggest_items(runs, suggestion);
	g_autofree char *action = pp_suggest_headline(suggestion);
	g_autofree char *headline = g_strdup_printf("%u. %s", number, action);

	pp_render_card_begin(to, headline);
	for (guint i = 0; i < items->len; i++) {
		const struct pp_suggest_item *item = items->pdata[i];

		if (item->is_source)
			pp_render_card_source(to, item->name, item->text);
		else
			pp_render_card_text(to, item->name, item->text);
	}
	pp_render_card_end(to);
}

static GString *cards_of(const struct pp_suggest_runs *runs, const GPtrArray *shown,
			 const struct pp_table *suggestions)
{
	GString *cards = g_string_new("<h2>Suggestions</h2>\n");

	for (guint i = 0; i < shown->len; i++)
		append_card(cards, i + 1, runs, shown->pdata[i]);
	pp_render_page_notes(cards, suggestions);
	return cards;
}

/* ---------------------------------------------------------------------------------------------- */

int pp_suggest_page_write(const char *path, const struct pp_suggest_runs *runs,
			  const struct pp_suggest_runs *after, const GPtrArray *shown,
			  const GPtrArray *tables, struct pp_error *err)
{
	g_autofree char *words = words_of(runs, after, tables);
	GString *cards = cards_of(runs, shown, tables->pdata[0]);
	const struct pp_page page = {
	    .title = "Changes of locks", .words = words, .figure = cards->str};
	struct pp_out out = {0};
	int rc = pp_out_open(&out, path, err);

	if (rc == 0) {
		pp_render_page(out.text, &page, (struct pp_table *const *)tables->pdata + 1,
			       tables->len - 1);
		rc = pp_out_finish(&out, err);
	}
	pp_out_done(&out);
	g_string_free(cards, TRUE);
	return rc;
}
