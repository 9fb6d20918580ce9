/* SPDX-License-Identifier: MIT */
/* Rows of a group are found by their keys; each result column has a way to combine their cells. */
#include "table/group.h"

#include <inttypes.h>
#include <string.h>

enum way {
	KEY,
	COUNT, /* of threads, or of pairs of threads */
	COMBINED,
	MEAN, /* weighted by another column */
	LEAST,
	MOST,
};

/* A column of the result. */
struct part {
	enum way way;
	unsigned from; /* the column of the table */
	unsigned over; /* MEAN: the column with the weights */
};

struct group {
	struct pp_cell *row;
	guint n_rows;
	GHashTable *threads; /* a set of the texts of their identities */
	double *weights;     /* MEAN: their sum, by column of the result */
};

struct grouping {
	const struct pp_table *of;
	struct pp_table *result;
	GArray *parts;	     /* of struct part, by column of the result */
	GHashTable *by_keys; /* char * -> struct group * */
	GPtrArray *groups;   /* of struct group * */
	bool is_per_thread;  /* a row belongs to one thread */
};

static void group_free(void *data)
{
	struct group *group = data;

	g_hash_table_unref(group->threads);
	g_free(group->weights);
	g_free(group);
}

/* --- columns -------------------------------------------------------------------------------- */

static void add_column(struct grouping *self, GArray *columns, struct part part,
		       const struct pp_column *column)
{
	g_array_append_val(columns, *column);
	g_array_append_val(self->parts, part);
}

static void add_keys(struct grouping *self, GArray *columns)
{
	for (unsigned c = 0; c < self->of->n_columns; c++) {
		struct pp_column column = self->of->columns[c];

		if (!(column.flags & PP_COLUMN_KEY) || column.flags & PP_COLUMN_THREAD)
			continue;
		if (column.flags & PP_COLUMN_GROUP)
			column.flags &= ~(unsigned)PP_COLUMN_JSON_ONLY;
		add_column(self, columns, (struct part){KEY, c, 0}, &column);
	}
}

static void add_count(struct grouping *self, GArray *columns)
{
	static const struct pp_column threads = {"threads", "threads", PP_TYPE_COUNT,
						 PP_COLUMN_STAYS, "number of its threads"};
	static const struct pp_column pairs = {"pairs", "pairs", PP_TYPE_COUNT, PP_COLUMN_STAYS,
					       "number of pairs of threads"};

	add_column(self, columns, (struct part){COUNT, 0, 0},
		   self->is_per_thread ? &threads : &pairs);
}

/* "least_wait_ns": the least value of a thread. */
static void add_extreme(struct grouping *self, GArray *columns, GStringChunk *strings, enum way way,
			unsigned c)
{
	const char *which = way == LEAST ? "least" : "most";
	const struct pp_column *of = &self->of->columns[c];
	g_autofree char *key = g_strconcat(which, "_", of->key, NULL);
	struct pp_column column = {
	    .key = g_string_chunk_insert(strings, key),
	    .title = which,
	    .type = of->type,
	    .flags = PP_COLUMN_NO_SUM | (of->flags & PP_COLUMN_JSON_ONLY),
	    .help = way == LEAST ? "... its least value of a thread" : "... its largest",
	};

	add_column(self, columns, (struct part){way, c, 0}, &column);
}

/* How the column's figures are combined.  Returns false if they cannot be. */
static bool find_way(const struct pp_table *of, unsigned c, struct part *part)
{
	const struct pp_column *column = &of->columns[c];
	int over = column->mean_over ? pp_table_column(of, column->mean_over) : -1;
	struct pp_cell a = {.count = 0}, b = {.count = 0};

	*part = (struct part){COMBINED, c, 0};
	if (over >= 0)
		*part = (struct part){MEAN, c, (unsigned)over};
	return over >= 0 || pp_cell_combine(&a, &b, column);
}

static void add_figures(struct grouping *self, GArray *columns, GStringChunk *strings)
{
	unsigned main = pp_table_main_column(self->of);

	for (unsigned c = 0; c < self->of->n_columns; c++) {
		const struct pp_column *column = &self->of->columns[c];
		struct part part;

		if (!pp_column_is_figure(column) || !find_way(self->of, c, &part))
			continue;
		add_column(self, columns, part, column);
		if (c == main && self->is_per_thread && part.way == COMBINED &&
		    !(column->flags & PP_COLUMN_MAX)) {
			add_extreme(self, columns, strings, LEAST, c);
			add_extreme(self, columns, strings, MOST, c);
		}
	}
}

/* --- rows ----------------------------------------------------------------------------------- */

/* The cells with one of the flags, each preceded by its length. */
static char *identity_of(const struct pp_table *table, const struct pp_cell *row, unsigned flags,
			 unsigned but)
{
	GString *all = g_string_new(NULL);

	for (unsigned c = 0; c < table->n_columns; c++) {
		g_autofree char *text = NULL;

		if (!(table->columns[c].flags & flags) || table->columns[c].flags & but)
			continue;
		text = pp_cell_text(&row[c], &table->columns[c]);
		g_string_append_printf(all, "%d%zu:%s", row[c].missing, strlen(text), text);
	}
	return g_string_free(all, FALSE);
}

static void combine(struct group *group, unsigned at, const struct part *part,
		    const struct pp_table *of, const struct pp_cell *row)
{
	const struct pp_column *column = &of->columns[part->from];
	const struct pp_cell *cell = &row[part->from];
	struct pp_cell *sum = &group->row[at];
	double value, weight;

	if (group->n_rows && sum->missing)
		return;
	if (cell->missing || (part->way == MEAN && row[part->over].missing)) {
		sum->missing = true;
		return;
	}
	value = pp_cell_number(cell, column->type);
	if (part->way == MEAN) {
		weight = pp_cell_number(&row[part->over], of->columns[part->over].type);
		pp_cell_set_number(sum, (group->n_rows ? sum->number : 0) + value * weight);
		group->weights[at] += weight;
	} else if (!group->n_rows) {
		*sum = *cell;
	} else if (part->way == COMBINED) {
		sum->missing = !pp_cell_combine(sum, cell, column);
	} else if ((value < pp_cell_number(sum, column->type)) == (part->way == LEAST)) {
		*sum = *cell;
	}
}

static void add_row(struct grouping *self, const struct pp_cell *row)
{
	char *keys = identity_of(self->of, row, PP_COLUMN_KEY, PP_COLUMN_THREAD);
	struct group *group = g_hash_table_lookup(self->by_keys, keys);

	if (group) {
		g_free(keys);
	} else {
		group = g_new0(struct group, 1);
		group->row = pp_table_add_row(self->result);
		group->threads = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
		group->weights = g_new0(double, self->result->n_columns);
		g_hash_table_insert(self->by_keys, keys, group);
		g_ptr_array_add(self->groups, group);
	}
	g_hash_table_add(group->threads, identity_of(self->of, row, PP_COLUMN_THREAD, 0));
	for (guint i = 0; i < self->parts->len; i++) {
		const struct part *part = &g_array_index(self->parts, struct part, i);

		if (part->way == KEY && !group->n_rows && !row[part->from].missing)
			pp_cell_set_text(&group->row[i], row[part->from].text);
		else if (part->way > COUNT)
			combine(group, i, part, self->of, row);
	}
	group->n_rows++;
}

static void finish_group(const struct grouping *self, struct group *group)
{
	for (guint i = 0; i < self->parts->len; i++) {
		const struct part *part = &g_array_index(self->parts, struct part, i);
		struct pp_cell *cell = &group->row[i];

		if (part->way == COUNT)
			pp_cell_set_count(cell, self->is_per_thread
						    ? g_hash_table_size(group->threads)
						    : group->n_rows);
		else if (part->way == MEAN && !cell->missing && group->weights[i] > 0)
			cell->number /= group->weights[i];
		else if (part->way == MEAN)
			cell->missing = true;
	}
}

static gint largest_first(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct pp_cell *x = *(struct pp_cell *const *)a, *y = *(struct pp_cell *const *)b;
	const struct pp_table *table = data;
	unsigned c = pp_table_main_column(table);
	double of_x, of_y;

	if (c == table->n_columns || x[c].missing || y[c].missing)
		return c == table->n_columns ? 0 : x[c].missing - y[c].missing;
	of_x = pp_cell_number(&x[c], table->columns[c].type);
	of_y = pp_cell_number(&y[c], table->columns[c].type);
	return of_x < of_y ? 1 : -(of_x > of_y);
}

/* -------------------------------------------------------------------------------------------- */

/* The number of threads to which a row belongs. */
static unsigned n_threads_of(const struct pp_table *table)
{
	unsigned n = 0;

	for (unsigned c = 0; c < table->n_columns; c++)
		n += (table->columns[c].flags & PP_COLUMN_GROUP) != 0;
	return n;
}

static void make_result(struct grouping *self)
{
	GArray *columns = g_array_new(FALSE, FALSE, sizeof(struct pp_column));
	GStringChunk *strings = g_string_chunk_new(256);

	add_keys(self, columns);
	add_count(self, columns);
	add_figures(self, columns, strings);
	self->result = pp_table_new_own(self->of->key, self->of->title, columns, strings);
	self->result->is_for_text = self->of->is_for_text;
	self->result->is_for_programs = self->of->is_for_programs;
	self->result->is_excerpt = self->of->is_excerpt;
	self->result->text_rows = self->of->text_rows;
	self->result->text = g_strdup(self->of->text);
	for (guint i = 0; i < self->of->notes->len; i++)
		pp_table_note(self->result, "%s", (const char *)self->of->notes->pdata[i]);
}

struct pp_table *pp_table_group(const struct pp_table *table)
{
	unsigned n_threads = n_threads_of(table);
	struct grouping self = {.of = table, .is_per_thread = n_threads == 1};

	if (!n_threads || table->is_in_order)
		return NULL;
	self.parts = g_array_new(FALSE, FALSE, sizeof(struct part));
	self.by_keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	self.groups = g_ptr_array_new_with_free_func(group_free);
	make_result(&self);
	for (guint i = 0; i < table->rows->len; i++)
		add_row(&self, table->rows->pdata[i]);
	for (guint i = 0; i < self.groups->len; i++)
		finish_group(&self, self.groups->pdata[i]);
	g_ptr_array_sort_with_data(self.result->rows, largest_first, self.result);
	g_array_unref(self.parts);
	g_hash_table_unref(self.by_keys);
	g_ptr_array_unref(self.groups);
	return self.result;
}
