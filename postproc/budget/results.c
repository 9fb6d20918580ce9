/* SPDX-License-Identifier: MIT */
/* Values are numbers in JSON, with their unit in a column, and texts with the unit in text. */
#include "budget/results.h"

#include <inttypes.h>
#include <math.h>

#include "core/text/duration.h"

enum {
	BUDGET,
	VERDICT,
	A,
	B,
	LIMIT,
	OVER,
	OVER_PCT,
	MARGIN,
	WHY,
	UNIT,
	A_MEAN,
	A_SIGMA,
	A_RUNS,
	B_MEAN,
	B_SIGMA,
	B_RUNS,
	LIMIT_NUMBER,
	OVER_NUMBER,
	MARGIN_NUMBER,
	N_COLUMNS
};

#define TEXT   (PP_COLUMN_TEXT_ONLY | PP_COLUMN_RIGHT)
#define NUMBER PP_COLUMN_JSON_ONLY

static const struct pp_column columns[N_COLUMNS] = {
    [BUDGET] = {"budget", "budget", PP_TYPE_TEXT, PP_COLUMN_KEY, "as it was given"},
    [VERDICT] = {"verdict", "verdict", PP_TYPE_TEXT, PP_COLUMN_STAYS,
		 "exceeded, not measured, within noise or met"},
    [A] = {"a", "A", PP_TYPE_TEXT, TEXT, "mean of A's captures, and standard deviation"},
    [B] = {"b", "B", PP_TYPE_TEXT, TEXT | PP_COLUMN_STAYS, "the same of B"},
    [LIMIT] = {"limit_text", "limit", PP_TYPE_TEXT, TEXT | PP_COLUMN_STAYS, "the most for B"},
    [OVER] = {"over_text", "over", PP_TYPE_TEXT, TEXT | PP_COLUMN_STAYS, "B - limit"},
    [OVER_PCT] = {"over_pct", "over %", PP_TYPE_PERCENT, PP_COLUMN_MAIN,
		  "the same in percent of the limit; none if that is 0"},
    [MARGIN] = {"margin_text", "margin", PP_TYPE_TEXT, TEXT,
		"excess that noise explains; none: one capture"},
    [WHY] = {"why", "why", PP_TYPE_TEXT, PP_COLUMN_STAYS, "why it was not measured"},
    [UNIT] = {"unit", "unit", PP_TYPE_TEXT, NUMBER, "of the next values: ns, count or %"},
    [A_MEAN] = {"a_mean", "A", PP_TYPE_RATIO, NUMBER, "mean of A's captures"},
    [A_SIGMA] = {"a_sigma", "sigma A", PP_TYPE_RATIO, NUMBER,
		 "its standard deviation; none: one capture"},
    [A_RUNS] = {"a_captures", "captures A", PP_TYPE_COUNT, NUMBER, "their number"},
    [B_MEAN] = {"b_mean", "B", PP_TYPE_RATIO, NUMBER, "mean of B's captures"},
    [B_SIGMA] = {"b_sigma", "sigma B", PP_TYPE_RATIO, NUMBER,
		 "its standard deviation; none: one capture"},
    [B_RUNS] = {"b_captures", "captures B", PP_TYPE_COUNT, NUMBER, "their number"},
    [LIMIT_NUMBER] = {"limit", "limit", PP_TYPE_RATIO, NUMBER, "the most for B"},
    [OVER_NUMBER] = {"over", "over", PP_TYPE_RATIO, NUMBER, "B - limit; below 0: met"},
    [MARGIN_NUMBER] = {"margin", "margin", PP_TYPE_RATIO, NUMBER,
		       "excess that noise explains, at 2.5 %; none: one capture of A or B"},
};

/* --- values --------------------------------------------------------------------------------- */

static char *value_text(enum pp_budget_unit unit, double value)
{
	switch (unit) {
	case PP_BUDGET_NS:
		return pp_duration_text(llround(CLAMP(value, -0x1p62, 0x1p62)));
	case PP_BUDGET_PERCENT:
		return g_strdup_printf("%.3g %%", value);
	case PP_BUDGET_COUNT:
		break;
	}
	return g_strdup_printf("%.*f", value == floor(value) ? 0 : 1, value);
}

static char *spread_text(enum pp_budget_unit unit, const struct pp_spread *spread)
{
	g_autofree char *mean = value_text(unit, spread->mean);
	g_autofree char *sigma = spread->n > 1 ? value_text(unit, spread->sigma) : NULL;

	return sigma ? g_strdup_printf("%s +-%s", mean, sigma) : g_steal_pointer(&mean);
}

static void set_value(struct pp_cell *cell, enum pp_budget_unit unit, double value)
{
	g_autofree char *text = value_text(unit, value);

	pp_cell_set_text(cell, text);
}

/* The cells of a side; the columns are those from `mean` on. */
static void set_side(struct pp_cell *row, unsigned text, unsigned mean,
		     const struct pp_budget_result *result, const struct pp_spread *spread)
{
	g_autofree char *words = NULL;

	if (!spread->n)
		return;
	words = spread_text(result->unit, spread);
	pp_cell_set_text(&row[text], words);
	pp_cell_set_number(&row[mean], spread->mean);
	if (spread->n > 1)
		pp_cell_set_number(&row[mean + 1], spread->sigma);
	pp_cell_set_count(&row[mean + 2], spread->n);
}

static void add_row(struct pp_table *table, const struct pp_budget_result *result)
{
	static const char *const units[] = {"ns", "count", "%"};
	struct pp_cell *row = pp_table_add_row(table);

	pp_cell_set_text(&row[BUDGET], result->budget->text);
	pp_cell_set_text(&row[VERDICT], pp_budget_verdicts[result->verdict]);
	pp_cell_set_text(&row[WHY], result->why);
	pp_cell_set_text(&row[UNIT], units[result->unit]);
	if (result->verdict == PP_BUDGET_NOT_MEASURED)
		return;
	set_side(row, A, A_MEAN, result, &result->a);
	set_side(row, B, B_MEAN, result, &result->b);
	set_value(&row[LIMIT], result->unit, result->limit);
	pp_cell_set_number(&row[LIMIT_NUMBER], result->limit);
	pp_cell_set_number(&row[OVER_NUMBER], result->over);
	if (result->over > 0)
		set_value(&row[OVER], result->unit, result->over);
	if (result->limit > 0)
		pp_cell_set_number(&row[OVER_PCT], 100 * result->over / result->limit);
	if (!result->has_margin)
		return;
	set_value(&row[MARGIN], result->unit, result->margin);
	pp_cell_set_number(&row[MARGIN_NUMBER], result->margin);
}

/* --- the table ------------------------------------------------------------------------------ */

guint pp_budget_count(const GArray *results, enum pp_budget_verdict verdict)
{
	guint n = 0;

	for (guint i = 0; i < results->len; i++)
		n += g_array_index(results, struct pp_budget_result, i).verdict == verdict;
	return n;
}

static double excess(const struct pp_budget_result *result)
{
	return result->limit > 0 ? result->over / result->limit : result->over > 0 ? INFINITY : 0;
}

static gint by_verdict(gconstpointer x, gconstpointer y)
{
	const struct pp_budget_result *a = *(struct pp_budget_result *const *)x;
	const struct pp_budget_result *b = *(struct pp_budget_result *const *)y;

	if (a->verdict != b->verdict)
		return a->verdict < b->verdict ? -1 : 1;
	return (excess(a) < excess(b)) - (excess(a) > excess(b));
}

static void add_notes(struct pp_table *table, const GArray *results)
{
	bool is_single = false;

	pp_table_note(table, "%u of %u budgets exceeded, %u not measured, %u within noise",
		      pp_budget_count(results, PP_BUDGET_EXCEEDED), results->len,
		      pp_budget_count(results, PP_BUDGET_NOT_MEASURED),
		      pp_budget_count(results, PP_BUDGET_WITHIN_NOISE));
	for (guint i = 0; i < results->len; i++) {
		const struct pp_budget_result *result =
		    &g_array_index(results, struct pp_budget_result, i);

		is_single |= result->verdict != PP_BUDGET_NOT_MEASURED && !result->has_margin;
	}
	if (is_single)
		pp_table_note(table, "noise is unknown, since A or B is one capture: each excess "
				     "counts; several captures of each tell noise from change");
}

struct pp_table *pp_budget_table(const GArray *results)
{
	struct pp_table *table = pp_table_new("budgets", "Budgets", columns, N_COLUMNS);
	g_autoptr(GPtrArray) order = g_ptr_array_new();

	for (guint i = 0; i < results->len; i++)
		g_ptr_array_add(order, &g_array_index(results, struct pp_budget_result, i));
	g_ptr_array_sort(order, by_verdict); /* is stable */
	for (guint i = 0; i < order->len; i++)
		add_row(table, order->pdata[i]);
	add_notes(table, results);
	return table;
}

/* -------------------------------------------------------------------------------------------- */

char *pp_budget_sentence(const struct pp_budget_result *result)
{
	g_autofree char *a = NULL, *b = NULL, *limit = NULL, *over = NULL, *place = NULL;

	if (result->verdict == PP_BUDGET_NOT_MEASURED)
		return g_strdup_printf("not measured: %s", result->why);
	a = spread_text(result->unit, &result->a);
	b = spread_text(result->unit, &result->b);
	limit = value_text(result->unit, result->limit);
	over = value_text(result->unit, fabs(result->over));
	place = result->over > 0   ? g_strdup_printf("%s above", over)
		: result->over < 0 ? g_strdup_printf("%s below", over)
				   : g_strdup("at");
	return g_strdup_printf("B is %s, %s the limit of %s%s%s%s", b, place, limit,
			       result->a.n ? " (A is " : "", result->a.n ? a : "",
			       result->a.n ? ")" : "");
}
