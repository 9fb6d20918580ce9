/* SPDX-License-Identifier: MIT */
/*
 * Chooses the rows that a table keeps.  A combination is a row's key without the time.  The
 * costliest combinations are kept as long as there is space for their rows.  The rest is shown with
 * less detail: callers replace parts of the key.
 */
#include "export/html/html.h"

#include <string.h>

/* For each combination: its cost, whether it is kept, then one bit for each bin. */
enum { COST, IS_KEPT, BINS };
G_STATIC_ASSERT(PP_HTML_BINS == (PP_SUMS_FIGURES - BINS) * 64);

/* Combinations beyond this limit are neither distinguished nor kept. */
#define COMBINATIONS_MAX 2000000

static const struct pp_sums_kind combinations = {NULL, {NULL}, {NULL}, 0};

void pp_html_choice_init(struct pp_html_choice *choice)
{
	pp_sums_init(&choice->combinations, &combinations);
}

void pp_html_choice_done(struct pp_html_choice *choice)
{
	if (choice->combinations.kind)
		pp_sums_done(&choice->combinations);
}

void pp_html_choice_note(struct pp_html_choice *choice, const uint32_t *key, uint32_t first_bin,
			 uint32_t last_bin, uint64_t cost)
{
	uint64_t *figures = choice->combinations.rows->len < COMBINATIONS_MAX
				? pp_sums_at(&choice->combinations, key)
				: pp_sums_find(&choice->combinations, key);

	if (!figures)
		return;
	figures[COST] += cost;
	for (uint32_t bin = first_bin; bin <= last_bin; bin++)
		figures[BINS + bin / 64] |= UINT64_C(1) << bin % 64;
}

void pp_html_choice_add(struct pp_html_choice *choice, const struct pp_sums_row *row)
{
	uint64_t *figures = pp_sums_at(&choice->combinations, row->key);

	figures[COST] += row->figure[COST];
	for (unsigned i = BINS; i < PP_SUMS_FIGURES; i++)
		figures[i] |= row->figure[i];
}

static gint compare_costs(gconstpointer a, gconstpointer b)
{
	const struct pp_sums_row *x = *(const struct pp_sums_row *const *)a;
	const struct pp_sums_row *y = *(const struct pp_sums_row *const *)b;

	if (x->figure[COST] != y->figure[COST])
		return x->figure[COST] < y->figure[COST] ? 1 : -1;
	return memcmp(x->key, y->key, sizeof(x->key));
}

void pp_html_choose(struct pp_html_choice *choice, uint64_t rows_max)
{
	GArray *rows = choice->combinations.rows;
	g_autoptr(GPtrArray) sorted = g_ptr_array_new();
	uint64_t n_rows = 0;

	for (guint i = 0; i < rows->len; i++)
		g_ptr_array_add(sorted, &g_array_index(rows, struct pp_sums_row, i));
	g_ptr_array_sort(sorted, compare_costs);
	for (guint i = 0; i < sorted->len; i++) {
		struct pp_sums_row *row = sorted->pdata[i];

		for (unsigned b = BINS; b < PP_SUMS_FIGURES; b++)
			n_rows += (unsigned)__builtin_popcountll(row->figure[b]);
		if (n_rows > rows_max)
			return;
		row->figure[IS_KEPT] = true;
		choice->n_kept++;
	}
}

bool pp_html_is_chosen(const struct pp_html_choice *choice, const uint32_t *key)
{
	const uint64_t *figures;

	if (!choice->combinations.kind || choice->n_kept == choice->combinations.rows->len)
		return true;
	figures = pp_sums_find(&choice->combinations, key);
	return figures && figures[IS_KEPT];
}
