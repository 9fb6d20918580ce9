/* SPDX-License-Identifier: MIT */
/* Groups the rows of both runs by their keys, aggregates each group, and joins the two. */
#include "table/diff.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { A, B, N_RUNS };

/* The result's columns for each figure. */
enum { OF_A, OF_B, CHANGE, RATIO, N_PARTS };

/* The position of the main figure. */
#define MAIN 0

/* The columns after the keys. */
enum { IN, ROWS_A, ROWS_B, N_FIXED };

/* The rows of both runs that have the same keys. */
struct match {
	const struct pp_cell *example;
	unsigned n_rows[N_RUNS];
	struct pp_cell *figures[N_RUNS]; /* all missing if n_rows is 0 */
	unsigned serial;
};

struct diff {
	const struct pp_diff_options *options;
	const struct pp_table *of[N_RUNS];
	const struct pp_column *columns;
	GArray *keys, *figures; /* of unsigned: column positions; the main figure is first */
	GHashTable *by_keys;	/* char * -> struct match * */
	GPtrArray *matches;	/* of struct match * */
	struct pp_table *result;
};

static unsigned position(const GArray *positions, guint at)
{
	return g_array_index(positions, unsigned, at);
}

static const struct pp_column *figure_at(const struct diff *diff, guint at)
{
	return &diff->columns[position(diff->figures, at)];
}

static bool is_share(const struct pp_column *column)
{
	return column->type == PP_TYPE_PERCENT || column->type == PP_TYPE_RATIO;
}

/* --- rows with the same keys ---------------------------------------------------------------- */

/* Removes line numbers: "main (a.c:12)" -> "main (a.c)", anywhere in the text. */
static void drop_lines(char *text)
{
	char *to = text;

	for (const char *from = text; *from;) {
		size_t n = *from == ':' ? strspn(from + 1, "0123456789") : 0;

		if (n && from[n + 1] == ')')
			from += n + 1;
		else
			*to++ = *from++;
	}
	*to = '\0';
}

/* The cell's text for comparison and output; NULL if missing. */
static char *key_text(const struct diff *diff, const struct pp_cell *cell,
		      const struct pp_column *column)
{
	char *text = cell->missing ? NULL : pp_cell_text(cell, column);

	if (text && diff->options->no_lines && column->type == PP_TYPE_TEXT)
		drop_lines(text);
	return text;
}

/* All keys of the row, each preceded by its length, since names may contain any character. */
static char *keys_of(const struct diff *diff, const struct pp_cell *row)
{
	GString *all = g_string_new(NULL);

	for (guint i = 0; i < diff->keys->len; i++) {
		unsigned c = position(diff->keys, i);
		g_autofree char *text = key_text(diff, &row[c], &diff->columns[c]);

		if (text)
			g_string_append_printf(all, "%zu:%s", strlen(text), text);
		else
			g_string_append_c(all, '-');
	}
	return g_string_free(all, FALSE);
}

static void add_row(struct diff *diff, unsigned run, const struct pp_cell *row)
{
	char *keys = keys_of(diff, row);
	struct match *match = g_hash_table_lookup(diff->by_keys, keys);

	if (match) {
		g_free(keys);
	} else {
		match = g_new0(struct match, 1);
		match->example = row;
		match->serial = diff->matches->len;
		for (unsigned r = 0; r < N_RUNS; r++) {
			match->figures[r] = g_new0(struct pp_cell, diff->figures->len);
			for (guint f = 0; f < diff->figures->len; f++)
				match->figures[r][f].missing = true;
		}
		g_hash_table_insert(diff->by_keys, keys, match);
		g_ptr_array_add(diff->matches, match);
	}
	for (guint f = 0; f < diff->figures->len; f++) {
		const struct pp_cell *cell = &row[position(diff->figures, f)];
		struct pp_cell *sum = &match->figures[run][f];

		if (match->n_rows[run] == 0)
			*sum = *cell;
		else if (!sum->missing)
			sum->missing =
			    cell->missing || !pp_cell_combine(sum, cell, figure_at(diff, f));
	}
	match->n_rows[run]++;
}

static void match_free(void *data)
{
	struct match *match = data;

	for (unsigned run = 0; run < N_RUNS; run++)
		g_free(match->figures[run]);
	g_free(match);
}

/* --- figures -------------------------------------------------------------------------------- */

/* The absolute change of a figure.  A run without the row counts as 0; a row without the figure has
 * no change. */
static double change_of(const struct diff *diff, const struct match *match, guint figure)
{
	const struct pp_column *column = figure_at(diff, figure);
	double values[N_RUNS] = {0, 0};

	for (unsigned run = 0; run < N_RUNS; run++)
		if (!match->figures[run][figure].missing)
			values[run] = pp_cell_number(&match->figures[run][figure], column->type);
		else if (match->n_rows[run])
			return 0;
	return fabs(values[B] - values[A]);
}

static bool is_changed(const struct diff *diff, const struct match *match)
{
	if (match->n_rows[A] != match->n_rows[B])
		return true;
	for (guint f = 0; f < diff->figures->len; f++)
		if (change_of(diff, match, f) != 0 ||
		    match->figures[A][f].missing != match->figures[B][f].missing)
			return true;
	return false;
}

/*
 * True if the rows are in both runs and the main figure changed by less than the requested minimum.
 */
static bool is_small(const struct diff *diff, const struct match *match)
{
	const struct pp_cell *before = &match->figures[A][MAIN];

	return diff->options->min_change_pct > 0 && match->n_rows[A] && match->n_rows[B] &&
	       !before->missing && !match->figures[B][MAIN].missing &&
	       (change_of(diff, match, MAIN) == 0 ||
		change_of(diff, match, MAIN) * 100 <
		    fabs(pp_cell_number(before, figure_at(diff, MAIN)->type)) *
			diff->options->min_change_pct);
}

static bool has_values(const struct diff *diff, guint figure)
{
	for (guint i = 0; i < diff->matches->len; i++) {
		const struct match *match = diff->matches->pdata[i];

		if (!match->figures[A][figure].missing || !match->figures[B][figure].missing)
			return true;
	}
	return false;
}

/* The table's main figure if it was measured, else the first figure that was. */
static guint find_main(const struct diff *diff)
{
	for (guint f = 0; f < diff->figures->len; f++)
		if (figure_at(diff, f)->flags & PP_COLUMN_MAIN && has_values(diff, f))
			return f;
	for (guint f = 0; f < diff->figures->len; f++)
		if (has_values(diff, f))
			return f;
	return MAIN;
}

/* Moves it to the front. */
static void move_main(struct diff *diff)
{
	guint from = find_main(diff);
	unsigned column = position(diff->figures, from);

	g_array_remove_index(diff->figures, from);
	g_array_prepend_val(diff->figures, column);
	for (guint i = 0; i < diff->matches->len; i++)
		for (unsigned run = 0; run < N_RUNS; run++) {
			struct match *match = diff->matches->pdata[i];
			struct pp_cell main = match->figures[run][from];

			memmove(&match->figures[run][1], match->figures[run], from * sizeof(main));
			match->figures[run][MAIN] = main;
		}
}

/* The change of the main figure without the part of it that does not count. */
static double rank_of(const struct diff *diff, const struct match *match)
{
	double values[N_RUNS] = {0, 0};

	for (unsigned run = 0; run < N_RUNS; run++) {
		if (match->figures[run][MAIN].missing && match->n_rows[run])
			return 0;
		for (guint f = 0; f < diff->figures->len; f++) {
			const struct pp_column *column = figure_at(diff, f);
			const struct pp_cell *cell = &match->figures[run][f];
			bool is_left_out = column->flags & PP_COLUMN_UNRANKED;

			if (cell->missing || (f != MAIN && !is_left_out))
				continue;
			values[run] += (f == MAIN ? 1 : -1) * pp_cell_number(cell, column->type);
		}
	}
	return fabs(values[B] - values[A]);
}

/* By the change of the main figure, then of the others, then in the order of the tables. */
static gint compare_matches(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct match *x = *(struct match *const *)a, *y = *(struct match *const *)b;
	const struct diff *diff = data;
	double rank_x = rank_of(diff, x), rank_y = rank_of(diff, y);

	if (figure_at(diff, MAIN)->flags & PP_COLUMN_MAIN && rank_x != rank_y)
		return rank_x < rank_y ? 1 : -1;
	for (guint f = 0; f < diff->figures->len; f++) {
		double of_x = change_of(diff, x, f), of_y = change_of(diff, y, f);

		if (of_x != of_y)
			return of_x < of_y ? 1 : -1;
	}
	return x->serial < y->serial ? -1 : 1;
}

/* --- the result ----------------------------------------------------------------------------- */

/*
 * Text shows all columns of the main figure, and of others the change, if rows can be added up and
 * there is a change.
 */
static unsigned flags_of(const struct diff *diff, guint figure, unsigned part)
{
	const struct pp_column *column = figure_at(diff, figure);
	unsigned is_signed = part == CHANGE ? PP_COLUMN_SIGNED : 0;

	if (figure == MAIN)
		return is_signed;
	if (part != CHANGE || is_share(column) ||
	    column->flags & (PP_COLUMN_NO_SUM | PP_COLUMN_JSON_ONLY))
		return is_signed | PP_COLUMN_JSON_ONLY;
	for (guint i = 0; i < diff->matches->len; i++) {
		const struct match *match = diff->matches->pdata[i];

		if (match->n_rows[A] && match->n_rows[B] && change_of(diff, match, figure) != 0)
			return is_signed;
	}
	return is_signed | PP_COLUMN_JSON_ONLY;
}

static void add_column(GArray *columns, GStringChunk *strings, const struct diff *diff,
		       guint figure, unsigned part)
{
	static const char *const endings[] = {"_a", "_b", "_change", "_ratio"};
	static const char *const titles[] = {" A", " B", "change", "ratio"};
	struct pp_column column = *figure_at(diff, figure);
	bool is_main = figure == MAIN;
	g_autofree char *key = g_strconcat(column.key, endings[part], NULL);
	g_autofree char *title =
	    part <= OF_B ? g_strconcat(column.title, titles[part], NULL)
			 : g_strdup(is_main || part == RATIO ? titles[part] : column.title);

	column.key = g_string_chunk_insert(strings, key);
	column.title = g_string_chunk_insert(strings, title);
	column.flags = flags_of(diff, figure, part);
	if (part == CHANGE && column.type == PP_TYPE_COUNT)
		column.type = PP_TYPE_INTEGER;
	if (part == RATIO)
		column.type = PP_TYPE_RATIO;
	g_array_append_val(columns, column);
}

/* A percentage has no ratio: its change is in percentage points. */
static unsigned n_parts(const struct pp_column *figure)
{
	return is_share(figure) ? RATIO : N_PARTS;
}

static void add_fixed_columns(GArray *columns, const struct diff *diff)
{
	bool is_alone = false, is_sum = false;
	struct pp_column fixed[N_FIXED] = {
	    [IN] = {"in", "in", PP_TYPE_TEXT, PP_COLUMN_JSON_ONLY, "both, only A, only B"},
	    [ROWS_A] = {"rows_a", "rows A", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,
			"number of A's rows with these keys, which are combined"},
	    [ROWS_B] = {"rows_b", "rows B", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY, "... of B"},
	};

	for (guint i = 0; i < diff->matches->len; i++) {
		const struct match *match = diff->matches->pdata[i];

		is_alone |= !match->n_rows[A] || !match->n_rows[B];
		is_sum |= match->n_rows[A] > 1 || match->n_rows[B] > 1;
	}
	if (is_alone)
		fixed[IN].flags = 0;
	if (is_sum)
		fixed[ROWS_A].flags = fixed[ROWS_B].flags = 0;
	g_array_append_vals(columns, fixed, N_FIXED);
}

static struct pp_table *make_result(const struct diff *diff)
{
	const struct pp_table *like = diff->of[A] ? diff->of[A] : diff->of[B];
	GArray *columns = g_array_new(FALSE, FALSE, sizeof(struct pp_column));
	GStringChunk *strings = g_string_chunk_new(1024);

	for (guint i = 0; i < diff->keys->len; i++) {
		struct pp_column column = diff->columns[position(diff->keys, i)];

		column.key = g_string_chunk_insert(strings, column.key);
		column.title = g_string_chunk_insert(strings, column.title);
		column.type = PP_TYPE_TEXT;
		column.flags = PP_COLUMN_KEY;
		g_array_append_val(columns, column);
	}
	add_fixed_columns(columns, diff);
	for (guint f = 0; f < diff->figures->len; f++)
		for (unsigned part = 0; part < n_parts(figure_at(diff, f)); part++)
			add_column(columns, strings, diff, f, part);
	return pp_table_new_own(like->key, like->title, columns, strings);
}

static void set_change(struct pp_cell *to, const struct pp_cell *a, const struct pp_cell *b,
		       enum pp_type type)
{
	int64_t change;

	if (type == PP_TYPE_COUNT) {
		if (!__builtin_sub_overflow(b->count, a->count, &change))
			pp_cell_set_integer(to, change);
	} else if (type == PP_TYPE_TIME_NS) {
		if (!__builtin_sub_overflow(b->time_ns, a->time_ns, &change))
			pp_cell_set_time(to, change);
	} else {
		pp_cell_set_number(to, b->number - a->number);
	}
}

static void add_result(const struct diff *diff, const struct match *match)
{
	struct pp_cell *row = pp_table_add_row(diff->result), *cell = row;
	bool in_both = match->n_rows[A] && match->n_rows[B];

	for (guint i = 0; i < diff->keys->len; i++) {
		unsigned c = position(diff->keys, i);
		g_autofree char *text = key_text(diff, &match->example[c], &diff->columns[c]);

		pp_cell_set_text(cell++, text);
	}
	pp_cell_set_text(&cell[IN], in_both ? "both" : match->n_rows[A] ? "only A" : "only B");
	pp_cell_set_count(&cell[ROWS_A], match->n_rows[A]);
	pp_cell_set_count(&cell[ROWS_B], match->n_rows[B]);
	cell += N_FIXED;
	for (guint f = 0; f < diff->figures->len; f++) {
		const struct pp_column *column = figure_at(diff, f);
		const struct pp_cell *a = &match->figures[A][f], *b = &match->figures[B][f];

		cell[OF_A] = *a;
		cell[OF_B] = *b;
		if (!a->missing && !b->missing) {
			set_change(&cell[CHANGE], a, b, column->type);
			if (!is_share(column) && pp_cell_number(a, column->type) != 0)
				pp_cell_set_number(&cell[RATIO],
						   pp_cell_number(b, column->type) /
						       pp_cell_number(a, column->type));
		}
		cell += n_parts(column);
	}
}

static void add_results(struct diff *diff)
{
	const struct pp_diff_options *options = diff->options;
	unsigned n_same = 0, n_small = 0, n_more = 0;

	for (guint i = 0; i < diff->matches->len; i++) {
		const struct match *match = diff->matches->pdata[i];

		if (is_small(diff, match))
			n_small++;
		else if (options->changed_only && !is_changed(diff, match))
			n_same++;
		else if (options->top && diff->result->rows->len == options->top)
			n_more++;
		else
			add_result(diff, match);
	}
	if (n_same)
		pp_table_note(diff->result, "the same in A and B, and left out: %u %s", n_same,
			      n_same == 1 ? "row" : "rows");
	if (n_small)
		pp_table_note(diff->result, "%s changed by less than %g %%, and left out: %u %s",
			      figure_at(diff, MAIN)->key, options->min_change_pct, n_small,
			      n_small == 1 ? "row" : "rows");
	if (n_more)
		pp_table_note(diff->result, "of smaller changes, and left out: %u %s", n_more,
			      n_more == 1 ? "row" : "rows");
}

/* Adds the notes of each run's table. */
static void add_notes(const struct diff *diff)
{
	static const char *const names[] = {"A", "B"};

	for (unsigned run = 0; run < N_RUNS; run++) {
		const struct pp_table *other = diff->of[!run];
		const GPtrArray *notes = diff->of[run] ? diff->of[run]->notes : NULL;

		for (guint i = 0; notes && i < notes->len; i++) {
			bool in_both =
			    other && g_ptr_array_find_with_equal_func(other->notes, notes->pdata[i],
								      g_str_equal, NULL);

			if (!in_both || run == A)
				pp_table_note(diff->result, "%s: %s",
					      in_both ? "A and B" : names[run],
					      (const char *)notes->pdata[i]);
		}
	}
}

/* --- a single row as a list ----------------------------------------------------------------- */

static const struct pp_column list_columns[] = {
    {"figure", "", PP_TYPE_TEXT, 0, "the compared figure"},
    {"a", "A", PP_TYPE_TEXT, PP_COLUMN_RIGHT, "in A"},
    {"b", "B", PP_TYPE_TEXT, PP_COLUMN_RIGHT, "in B"},
    {"change", "change", PP_TYPE_TEXT, PP_COLUMN_RIGHT, "from A to B"},
    {"ratio", "ratio", PP_TYPE_TEXT, PP_COLUMN_RIGHT, "B by A"},
};

/* A list for a table with one row: a line for each figure that a run has. */
static struct pp_table *make_list(const struct diff *diff)
{
	struct pp_table *table = diff->result;
	struct pp_table *list =
	    pp_table_new(table->key, table->title, list_columns, G_N_ELEMENTS(list_columns));
	const struct pp_cell *cell =
	    table->rows->len ? (const struct pp_cell *)table->rows->pdata[0] + N_FIXED : NULL;
	const struct pp_column *column = table->columns + N_FIXED;
	GPtrArray *notes;
	guint f = 0;

	for (; cell && f < diff->figures->len; f++) {
		unsigned n = n_parts(figure_at(diff, f));

		if (!cell[OF_A].missing || !cell[OF_B].missing) {
			struct pp_cell *row = pp_table_add_row(list);

			pp_cell_set_text(&row[0], figure_at(diff, f)->title);
			for (unsigned part = 0; part < n; part++) {
				g_autofree char *text = pp_cell_text(&cell[part], &column[part]);

				pp_cell_set_text(&row[part + 1], text);
			}
		}
		cell += n;
		column += n;
	}
	list->is_for_text = true;
	table->is_for_programs = true;
	/* Notes of tables with the same key are printed together. */
	notes = list->notes;
	list->notes = table->notes;
	table->notes = notes;
	return list;
}

/* -------------------------------------------------------------------------------------------- */

static void find_columns(struct diff *diff, const struct pp_table *like)
{
	diff->columns = like->columns;
	for (unsigned c = 0; c < like->n_columns; c++)
		if (like->columns[c].flags & PP_COLUMN_KEY)
			g_array_append_val(diff->keys, c);
		else if (pp_column_is_figure(&like->columns[c]))
			g_array_append_val(diff->figures, c);
}

static void compare(struct diff *diff, bool is_nested, GPtrArray *tables)
{
	for (unsigned run = 0; run < N_RUNS; run++)
		for (guint r = 0; diff->of[run] && r < diff->of[run]->rows->len; r++)
			add_row(diff, run, diff->of[run]->rows->pdata[r]);
	move_main(diff);
	g_ptr_array_sort_with_data(diff->matches, compare_matches, diff);
	diff->result = make_result(diff);
	add_results(diff);
	add_notes(diff);
	g_ptr_array_add(tables, diff->result);
	/* Without rows, tables nested in them give no further information in text. */
	diff->result->is_for_programs = is_nested && !diff->matches->len;
	if (!diff->keys->len)
		g_ptr_array_add(tables, make_list(diff));
}

void pp_table_diff(const struct pp_table *a, const struct pp_table *b,
		   const struct pp_diff_options *options, GPtrArray *tables)
{
	const struct pp_table *like = a ? a : b;
	struct diff diff = {
	    .options = options,
	    .of = {a, b},
	    .keys = g_array_new(FALSE, FALSE, sizeof(unsigned)),
	    .figures = g_array_new(FALSE, FALSE, sizeof(unsigned)),
	    .by_keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
	    .matches = g_ptr_array_new_with_free_func(match_free),
	};

	find_columns(&diff, like);
	if (diff.figures->len)
		compare(&diff, like->n_parents > 0, tables);
	g_array_unref(diff.keys);
	g_array_unref(diff.figures);
	g_hash_table_unref(diff.by_keys);
	g_ptr_array_unref(diff.matches);
}
