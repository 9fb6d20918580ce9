/* SPDX-License-Identifier: MIT */
/* The variables that sections access, and lines that are falsely shared. */
#include "pass/accesses/accesses.h"
#include "pass/accesses/places.h"

/* Names take the time of a look-up in debugging information. */
#define NAMED_MAX 20000u

/* --- variables -------------------------------------------------------------------------------- */

enum { LOCK, ENTRY, VARIABLE, LOCATIONS, SHARED, N_READ, N_WRITTEN, N_ALL, N_COLUMNS };

static const struct pp_column columns[N_COLUMNS] = {
    [LOCK] = {"lock", "lock", PP_TYPE_TEXT, PP_COLUMN_KEY, "the lock of the section"},
    [ENTRY] = {"entry", "entered at", PP_TYPE_TEXT, PP_COLUMN_KEY, "the call that acquired it"},
    [VARIABLE] = {"variable", "variable", PP_TYPE_TEXT, PP_COLUMN_KEY,
		  "the variable, or the block of the heap by its size and the call that allocated "
		  "it; elements of arrays are one"},
    [LOCATIONS] = {"locations", "locations", PP_TYPE_COUNT, 0, "different locations in it"},
    [SHARED] = {"shared_pct", "shared", PP_TYPE_PERCENT, 0,
		"the share of the accessing instances for which it was shared by two threads"},
    [N_READ] = {"reads", "only read", PP_TYPE_COUNT, 0,
		"instances that only read a location, added up over the locations"},
    [N_WRITTEN] = {"writes", "written", PP_TYPE_COUNT, 0,
		   "instances that write a location, added up over the locations"},
    [N_ALL] = {"accesses", "both", PP_TYPE_COUNT, PP_COLUMN_MAIN | PP_COLUMN_JSON_ONLY,
	       "the sum of both"},
};

struct variable {
	const struct pp_access_row *row;
	char *name;
	uint64_t n_locations, n_shared, n_read, n_written;
};

static void variable_free(void *data)
{
	struct variable *variable = data;

	g_free(variable->name);
	g_free(variable);
}

static uint64_t n_of(const struct pp_accessed *accessed)
{
	return accessed->n_read + accessed->n_written;
}

static gint by_number(gconstpointer a, gconstpointer b)
{
	const struct pp_accessed *x = *(struct pp_accessed *const *)a;
	const struct pp_accessed *y = *(struct pp_accessed *const *)b;

	if (n_of(x) != n_of(y))
		return n_of(x) > n_of(y) ? -1 : 1;
	return pp_memory_place_compare(&x->place, &y->place);
}

/* The locations of selected sections, the most frequent ones first. */
static GPtrArray *selected(const struct pp_access_pass *self)
{
	GPtrArray *all = g_ptr_array_new();
	GHashTableIter iter;
	void *accessed;

	g_hash_table_iter_init(&iter, self->accessed);
	while (g_hash_table_iter_next(&iter, &accessed, NULL))
		if (pp_access_row_of(self, ((struct pp_accessed *)accessed)->user))
			g_ptr_array_add(all, accessed);
	g_ptr_array_sort(all, by_number);
	return all;
}

static void add_location(GHashTable *variables, const struct pp_access_row *row, char *name,
			 const struct pp_accessed *accessed)
{
	g_autofree char *key = g_strdup_printf("%p\n%s", (const void *)row, name);
	struct variable *variable = g_hash_table_lookup(variables, key);

	if (!variable) {
		variable = g_new0(struct variable, 1);
		variable->row = row;
		variable->name = g_strdup(name);
		g_hash_table_insert(variables, g_steal_pointer(&key), variable);
	}
	variable->n_locations++;
	variable->n_shared += accessed->n_shared;
	variable->n_read += accessed->n_read;
	variable->n_written += accessed->n_written;
}

static gint by_accesses(gconstpointer a, gconstpointer b)
{
	const struct variable *x = *(struct variable *const *)a;
	const struct variable *y = *(struct variable *const *)b;
	uint64_t n_x = x->n_read + x->n_written, n_y = y->n_read + y->n_written;

	if (n_x != n_y)
		return n_x > n_y ? -1 : 1;
	if (x->n_written != y->n_written)
		return x->n_written > y->n_written ? -1 : 1;
	return g_strcmp0(x->name, y->name) ?: g_strcmp0(x->row->entry, y->row->entry);
}

static void put_variable(struct pp_table *table, const struct variable *variable)
{
	struct pp_cell *cells = pp_table_add_row(table);

	pp_cell_set_text(&cells[LOCK], variable->row->lock);
	pp_cell_set_text(&cells[ENTRY], variable->row->entry);
	pp_cell_set_text(&cells[VARIABLE], variable->name);
	pp_cell_set_count(&cells[LOCATIONS], variable->n_locations);
	pp_cell_set_number(&cells[SHARED],
			   100.0 * (double)variable->n_shared /
			       (double)MAX(variable->n_read + variable->n_written, 1));
	pp_cell_set_count(&cells[N_READ], variable->n_read);
	pp_cell_set_count(&cells[N_WRITTEN], variable->n_written);
	pp_cell_set_count(&cells[N_ALL], variable->n_read + variable->n_written);
}

struct pp_table *pp_access_variables_table(const struct pp_access_pass *self)
{
	struct pp_table *table = pp_table_new(
	    "access_variables", "Variables that critical sections access", columns, N_COLUMNS);
	g_autoptr(GHashTable) variables =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, variable_free);
	g_autoptr(GPtrArray) locations = selected(self), all = g_ptr_array_new();
	guint n_named = MIN(locations->len, NAMED_MAX);
	GHashTableIter iter;
	void *variable;

	for (guint i = 0; i < n_named; i++) {
		const struct pp_accessed *accessed = locations->pdata[i];
		g_autofree char *name = pp_place_group(self->context, &accessed->place);

		add_location(variables, pp_access_row_of(self, accessed->user), name, accessed);
	}
	g_hash_table_iter_init(&iter, variables);
	while (g_hash_table_iter_next(&iter, NULL, &variable))
		g_ptr_array_add(all, variable);
	g_ptr_array_sort(all, by_accesses);
	for (guint i = 0; i < all->len; i++)
		put_variable(table, all->pdata[i]);
	if (locations->len > n_named)
		pp_table_note(table,
			      "%u locations that were accessed less often than these are left out",
			      locations->len - n_named);
	if (self->n_not_listed)
		pp_table_note(table,
			      "more locations were accessed than can be listed: %" G_GUINT64_FORMAT
			      " times, the next one is left out",
			      self->n_not_listed);
	table->text_rows = PP_ACCESSES_TEXT_ROWS;
	return table;
}

/* --- false sharing ---------------------------------------------------------------------------- */

enum {
	LINE,
	THREADS,
	LINE_INSTANCES,
	WRITER,
	WRITER_SITE,
	WRITER_ENTRY,
	OTHER,
	OTHER_SITE,
	OTHER_ENTRY,
	OTHER_WRITES,
	CONTENDED,
	N_LINE_COLUMNS
};

static const struct pp_column line_columns[N_LINE_COLUMNS] = {
    [LINE] = {"line", "line", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED,
	      "where the cache line begins"},
    [THREADS] = {"threads", "threads", PP_TYPE_COUNT, PP_COLUMN_MAX,
		 "threads that access it in sections"},
    [LINE_INSTANCES] = {"instances", "instances", PP_TYPE_COUNT, PP_COLUMN_MAIN,
			"instances of the two sections, in the two threads, that access it"},
    [WRITER] = {"writes", "one thread writes", PP_TYPE_TEXT, PP_COLUMN_KEY,
		"what one thread writes in this line"},
    [WRITER_SITE] = {"writes_at", "at", PP_TYPE_TEXT, PP_COLUMN_KEY, "where it does"},
    [WRITER_ENTRY] = {"writes_in", "in the section", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_DETAIL,
		      "the call that entered the section"},
    [OTHER] = {"other", "another accesses", PP_TYPE_TEXT, PP_COLUMN_KEY,
	       "what another thread accesses in this line: other bytes"},
    [OTHER_SITE] = {"other_at", "at", PP_TYPE_TEXT, PP_COLUMN_KEY, "where it does"},
    [OTHER_ENTRY] = {"other_in", "in the section", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_DETAIL,
		     "the call that entered the section"},
    [OTHER_WRITES] = {"other_writes", "writes", PP_TYPE_BOOL, PP_COLUMN_MORE,
		      "it writes them, too"},
    [CONTENDED] = {"shared_truly", "also shared truly", PP_TYPE_BOOL, PP_COLUMN_MORE,
		   "other threads write bytes of the line that are shared"},
};

static gint by_instances(gconstpointer a, gconstpointer b)
{
	const struct pp_false_line *x = *(struct pp_false_line *const *)a;
	const struct pp_false_line *y = *(struct pp_false_line *const *)b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return pp_memory_place_compare(&x->line, &y->line);
}

static void put_side(const struct pp_access_pass *self, const struct pp_line_side *side,
		     struct pp_cell *variable, struct pp_cell *site, struct pp_cell *entry)
{
	const struct pp_namer *namer = self->context->namer;
	const struct pp_access_row *row = pp_access_row_of(self, side->user);
	g_autofree char *name = pp_place_name(self->context, &side->place);
	g_autofree char *at =
	    side->site ? namer->site(namer->data, side->place.process, side->site) : NULL;

	pp_cell_set_text(variable, name);
	pp_cell_set_text(site, at);
	pp_cell_set_text(entry, row ? row->entry : NULL);
}

static GPtrArray *selected_lines(const struct pp_access_pass *self)
{
	GPtrArray *all = g_ptr_array_new();
	GHashTableIter iter;
	void *key;

	g_hash_table_iter_init(&iter, self->false_lines);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		const struct pp_false_line *line = key;

		if (pp_access_row_of(self, line->sides[0].user) ||
		    pp_access_row_of(self, line->sides[1].user))
			g_ptr_array_add(all, key);
	}
	g_ptr_array_sort(all, by_instances);
	return all;
}

struct pp_table *pp_access_false_sharing_table(const struct pp_access_pass *self)
{
	struct pp_table *table =
	    pp_table_new("false_sharing", "Falsely shared cache lines of critical sections",
			 line_columns, N_LINE_COLUMNS);
	g_autoptr(GPtrArray) all = selected_lines(self);
	guint n = MIN(all->len, NAMED_MAX);

	for (guint i = 0; i < n; i++) {
		const struct pp_false_line *line = all->pdata[i];
		struct pp_cell *cells = pp_table_add_row(table);
		g_autofree char *name = pp_place_name(self->context, &line->line);

		pp_cell_set_text(&cells[LINE], name);
		pp_cell_set_count(&cells[THREADS], line->n_threads);
		pp_cell_set_count(&cells[LINE_INSTANCES], line->n);
		put_side(self, &line->sides[0], &cells[WRITER], &cells[WRITER_SITE],
			 &cells[WRITER_ENTRY]);
		put_side(self, &line->sides[1], &cells[OTHER], &cells[OTHER_SITE],
			 &cells[OTHER_ENTRY]);
		pp_cell_set_bool(&cells[OTHER_WRITES], line->sides[1].written != 0);
		pp_cell_set_bool(&cells[CONTENDED], line->is_contended);
	}
	if (all->len > n)
		pp_table_note(table, "%u lines that were accessed less often are left out",
			      all->len - n);
	table->text_rows = PP_ACCESSES_TEXT_ROWS;
	return table;
}
