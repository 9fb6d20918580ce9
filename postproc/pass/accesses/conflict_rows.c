/* SPDX-License-Identifier: MIT */
/* The pairs in words: all pairs of a process whose sections read alike are one row. */
#include <string.h>

#include "analysis/state/select_object.h"
#include "pass/accesses/conflicts.h"
#include "pass/accesses/places.h"

/* Names take the time of a look-up in debugging information. */
#define NAMED_MAX 20000u
/* Variables in the row of a pair, and pairs in words. */
#define FIRST_VARIABLES 3u
#define WORDS_PAIRS	3u

enum {
	LOCK,
	TYPE,
	LOCKS,
	FIRST,
	SECOND,
	CONSECUTIVE,
	CONFLICTS,
	CONFLICT_SHARE,
	IN_LINES,
	LINE_SHARE,
	ENDED,
	VARIABLES,
	N_COLUMNS
};

static const struct pp_column columns[N_COLUMNS] = {
    [LOCK] = {"lock", "lock", PP_TYPE_TEXT, PP_COLUMN_KEY,
	      "the lock of most of these instances, as it is called in every run"},
    [TYPE] = {"type", "type", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED, PP_SYNC_TYPES},
    [LOCKS] = {"locks", "locks", PP_TYPE_COUNT, PP_COLUMN_MORE | PP_COLUMN_NO_SUM,
	       "the number of locks that have both sections"},
    [FIRST] = {"first", "one section", PP_TYPE_TEXT, PP_COLUMN_KEY,
	       "the call that entered one of the sections"},
    [SECOND] = {"second", "the other", PP_TYPE_TEXT, PP_COLUMN_KEY,
		"the call that entered the other one, which may be the same"},
    [CONSECUTIVE] = {"consecutive", "consecutive", PP_TYPE_COUNT, 0,
		     "instances of one that followed one of the other, in another thread"},
    [CONFLICTS] = {"conflicts", "conflicts", PP_TYPE_COUNT, PP_COLUMN_MAIN,
		   "... and conflicted: one writes bytes that the other one accesses"},
    [CONFLICT_SHARE] = {"conflict_pct", "share", PP_TYPE_PERCENT, PP_COLUMN_STAYS,
			"the share of those that did"},
    [IN_LINES] = {"only_lines", "only in lines", PP_TYPE_COUNT, 0,
		  "... did not, but one wrote a cache line that the other one accesses"},
    [LINE_SHARE] = {"only_lines_pct", "share", PP_TYPE_PERCENT, 0, "the share of those"},
    [ENDED] = {"freed", "freed", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,
	       "... accessed the same addresses, whose memory was freed in between: no conflict"},
    [VARIABLES] = {"variables", "on", PP_TYPE_TEXT, PP_COLUMN_PATH,
		   "the variables with most of the conflicts"},
};

enum { V_LOCK, V_FIRST, V_SECOND, V_NAME, V_CONFLICTS, N_VARIABLE_COLUMNS };

static const struct pp_column variable_columns[N_VARIABLE_COLUMNS] = {
    [V_LOCK] = {"lock", "lock", PP_TYPE_TEXT, PP_COLUMN_KEY, "the lock of the pair"},
    [V_FIRST] = {"first", "one section", PP_TYPE_TEXT, PP_COLUMN_KEY,
		 "the call that entered one of the sections"},
    [V_SECOND] = {"second", "the other", PP_TYPE_TEXT, PP_COLUMN_KEY,
		  "the call that entered the other one"},
    [V_NAME] = {"variable", "variable", PP_TYPE_TEXT, PP_COLUMN_KEY,
		"the variable, or the block of the heap by its size and the call that allocated "
		"it; elements of arrays are one"},
    [V_CONFLICTS] = {"conflicts", "conflicts", PP_TYPE_COUNT, PP_COLUMN_MAIN,
		     "conflicts on its words, added up"},
};

static const struct pp_column word_columns[] = {
    {"text", "", PP_TYPE_TEXT, 0, "a sentence"},
};

struct variable {
	char *name;
	uint64_t n;
};

struct row {
	const struct pp_process *process;
	char *first, *second;
	const struct pp_object *object; /* with most of the instances */
	char *lock;
	uint64_t n_of_object, n_objects;
	struct pp_conflict_figures figures;
	GPtrArray *pairs;     /* of struct pp_conflict_pair * */
	GHashTable *of_name;  /* name -> struct variable * */
	GPtrArray *variables; /* the same, those with most conflicts first */
};

struct rows {
	const struct pp_conflict_pass *pass;
	GHashTable *by_key; /* text -> struct row * */
	GHashTable *by_pair;
	GPtrArray *all;
	guint n_unnamed;
};

static void row_free(void *data)
{
	struct row *row = data;

	g_free(row->first);
	g_free(row->second);
	g_free(row->lock);
	g_ptr_array_unref(row->pairs);
	g_ptr_array_unref(row->variables);
	g_hash_table_unref(row->of_name);
	g_free(row);
}

static void variable_free(void *data)
{
	struct variable *variable = data;

	g_free(variable->name);
	g_free(variable);
}

/* --- rows ------------------------------------------------------------------------------------- */

static char *entry_of(const struct pp_conflict_pass *pass, const struct pp_conflict_code *code)
{
	const struct pp_namer *namer = pass->context->namer;

	return code->site ? namer->site(namer->data, code->process, code->site)
			  : g_strdup("an unknown call");
}

static struct row *row_of(struct rows *rows, struct pp_conflict_pair *pair)
{
	struct row *row = g_hash_table_lookup(rows->by_pair, pair);
	g_autofree char *a = NULL, *b = NULL, *key = NULL;

	if (row)
		return row;
	a = entry_of(rows->pass, pair->a);
	b = entry_of(rows->pass, pair->b);
	if (strcmp(a, b) > 0) {
		char *other = a;

		a = b;
		b = other;
	}
	key = g_strdup_printf("%p\n%s\n%s", (const void *)pair->a->process, a, b);
	row = g_hash_table_lookup(rows->by_key, key);
	if (!row) {
		row = g_new0(struct row, 1);
		row->process = pair->a->process;
		row->first = g_steal_pointer(&a);
		row->second = g_steal_pointer(&b);
		row->pairs = g_ptr_array_new();
		row->variables = g_ptr_array_new();
		row->of_name = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, variable_free);
		g_hash_table_insert(rows->by_key, g_steal_pointer(&key), row);
		g_ptr_array_add(rows->all, row);
	}
	g_hash_table_insert(rows->by_pair, pair, row);
	g_ptr_array_add(row->pairs, pair);
	return row;
}

static void add_part(struct rows *rows, const struct pp_object *object,
		     const struct pp_conflict_part *part)
{
	struct row *row = row_of(rows, part->pair);

	row->figures.n += part->figures.n;
	row->figures.n_bytes += part->figures.n_bytes;
	row->figures.n_lines += part->figures.n_lines;
	row->figures.n_ended += part->figures.n_ended;
	row->n_objects += pp_object_count(object);
	if (row->object && part->figures.n <= row->n_of_object)
		return;
	row->object = object;
	row->n_of_object = part->figures.n;
}

static gint by_conflicts(gconstpointer a, gconstpointer b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;

	if (x->figures.n_bytes != y->figures.n_bytes)
		return x->figures.n_bytes > y->figures.n_bytes ? -1 : 1;
	if (x->figures.n != y->figures.n)
		return x->figures.n > y->figures.n ? -1 : 1;
	return strcmp(x->first, y->first) ?: strcmp(x->second, y->second);
}

static void fill_rows(struct rows *rows)
{
	const GPtrArray *objects = pp_access_sections_objects(rows->pass->sections)->all;

	for (guint i = 0; i < objects->len; i++) {
		const struct pp_object *object = objects->pdata[i];
		const struct pp_conflict_lock *lock = object ? object->data : NULL;

		if (!lock || !pp_selects_object(rows->pass->context, object))
			continue;
		for (guint k = 0; k < lock->parts->len; k++)
			add_part(rows, object,
				 &g_array_index(lock->parts, struct pp_conflict_part, k));
	}
	for (guint i = 0; i < rows->all->len; i++) {
		struct row *row = rows->all->pdata[i];

		row->lock = pp_object_group(row->object, rows->pass->context->namer);
	}
	g_ptr_array_sort(rows->all, by_conflicts);
}

/* --- variables -------------------------------------------------------------------------------- */

struct named_place {
	struct row *row;
	const struct pp_conflict_place *place;
};

static gint by_number(gconstpointer a, gconstpointer b)
{
	const struct named_place *x = a, *y = b;

	if (x->place->n != y->place->n)
		return x->place->n > y->place->n ? -1 : 1;
	return pp_memory_place_compare(&x->place->place, &y->place->place);
}

static gint by_variable_conflicts(gconstpointer a, gconstpointer b)
{
	const struct variable *x = *(struct variable *const *)a;
	const struct variable *y = *(struct variable *const *)b;

	return x->n != y->n ? (x->n > y->n ? -1 : 1) : strcmp(x->name, y->name);
}

static void add_variable(const struct rows *rows, const struct named_place *of)
{
	char *name = pp_place_group(rows->pass->context, &of->place->place);
	struct variable *variable = g_hash_table_lookup(of->row->of_name, name);

	if (!variable) {
		variable = g_new0(struct variable, 1);
		variable->name = name;
		g_hash_table_insert(of->row->of_name, name, variable);
		g_ptr_array_add(of->row->variables, variable);
	} else {
		g_free(name);
	}
	variable->n += of->place->n;
}

/* All places of all rows, the most frequent ones first. */
static GArray *places_of(const struct rows *rows)
{
	GArray *places = g_array_new(FALSE, FALSE, sizeof(struct named_place));

	for (guint i = 0; i < rows->all->len; i++) {
		struct row *row = rows->all->pdata[i];

		for (guint k = 0; k < row->pairs->len; k++) {
			const struct pp_conflict_pair *pair = row->pairs->pdata[k];
			GHashTableIter iter;
			void *place;

			if (!pair->places)
				continue;
			g_hash_table_iter_init(&iter, pair->places);
			while (g_hash_table_iter_next(&iter, &place, NULL)) {
				struct named_place named = {row, place};

				g_array_append_val(places, named);
			}
		}
	}
	g_array_sort(places, by_number);
	return places;
}

static void name_places(struct rows *rows)
{
	g_autoptr(GArray) places = places_of(rows);
	guint n = MIN(places->len, NAMED_MAX);

	for (guint i = 0; i < n; i++)
		add_variable(rows, &g_array_index(places, struct named_place, i));
	rows->n_unnamed = places->len - n;
	for (guint i = 0; i < rows->all->len; i++)
		g_ptr_array_sort(((struct row *)rows->all->pdata[i])->variables,
				 by_variable_conflicts);
}

/* "counter, table[].next and 3 more"; NULL: none. */
static char *first_variables(const struct row *row)
{
	guint n = MIN(row->variables->len, FIRST_VARIABLES);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < n; i++)
		g_string_append_printf(text, "%s%s", i ? ", " : "",
				       ((struct variable *)row->variables->pdata[i])->name);
	if (row->variables->len > n)
		g_string_append_printf(text, " and %u more", row->variables->len - n);
	return g_string_free(text, !n);
}

/* --- tables ----------------------------------------------------------------------------------- */

static double share_pct(uint64_t part, uint64_t all)
{
	return 100.0 * (double)part / (double)MAX(all, 1);
}

static struct pp_table *pairs_table(const struct rows *rows)
{
	struct pp_table *table = pp_table_new(
	    "conflicts", "Conflicts between critical sections of a lock", columns, N_COLUMNS);

	for (guint i = 0; i < rows->all->len; i++) {
		const struct row *row = rows->all->pdata[i];
		struct pp_cell *cells = pp_table_add_row(table);
		g_autofree char *variables = first_variables(row);

		pp_cell_set_text(&cells[LOCK], row->lock);
		pp_cell_set_text(&cells[TYPE], pp_sync_type_name(row->object->type));
		pp_cell_set_count(&cells[LOCKS], row->n_objects);
		pp_cell_set_text(&cells[FIRST], row->first);
		pp_cell_set_text(&cells[SECOND], row->second);
		pp_cell_set_count(&cells[CONSECUTIVE], row->figures.n);
		pp_cell_set_count(&cells[CONFLICTS], row->figures.n_bytes);
		pp_cell_set_number(&cells[CONFLICT_SHARE],
				   share_pct(row->figures.n_bytes, row->figures.n));
		pp_cell_set_count(&cells[IN_LINES], row->figures.n_lines);
		pp_cell_set_number(&cells[LINE_SHARE],
				   share_pct(row->figures.n_lines, row->figures.n));
		pp_cell_set_count(&cells[ENDED], row->figures.n_ended);
		pp_cell_set_text(&cells[VARIABLES], variables);
	}
	table->text_rows = PP_ACCESSES_TEXT_ROWS;
	return table;
}

static struct pp_table *variables_table(const struct rows *rows)
{
	struct pp_table *table = pp_table_new("conflict_variables", "Variables of conflicts",
					      variable_columns, N_VARIABLE_COLUMNS);

	for (guint i = 0; i < rows->all->len; i++) {
		const struct row *row = rows->all->pdata[i];

		for (guint k = 0; k < row->variables->len; k++) {
			const struct variable *variable = row->variables->pdata[k];
			struct pp_cell *cells = pp_table_add_row(table);

			pp_cell_set_text(&cells[V_LOCK], row->lock);
			pp_cell_set_text(&cells[V_FIRST], row->first);
			pp_cell_set_text(&cells[V_SECOND], row->second);
			pp_cell_set_text(&cells[V_NAME], variable->name);
			pp_cell_set_count(&cells[V_CONFLICTS], variable->n);
		}
	}
	if (rows->n_unnamed)
		pp_table_note(table, "%u words with fewer conflicts than these are left out",
			      rows->n_unnamed);
	table->text_rows = PP_ACCESSES_TEXT_ROWS;
	return table;
}

static void append_words(GString *to, const struct row *row)
{
	g_autofree char *variables = first_variables(row);
	bool is_one = strcmp(row->first, row->second) == 0;

	g_string_append_printf(to, "%s%s%s, under %s: ", row->first, is_one ? "" : " and ",
			       is_one ? "" : row->second, row->lock);
	g_string_append_printf(to,
			       "%.0f %% of %" G_GUINT64_FORMAT
			       " consecutive instances of different threads conflict",
			       share_pct(row->figures.n_bytes, row->figures.n), row->figures.n);
	if (variables)
		g_string_append_printf(to, ", on %s", variables);
	if (row->figures.n_lines)
		g_string_append_printf(to, "; %.0f %% only share a cache line",
				       share_pct(row->figures.n_lines, row->figures.n));
	g_string_append_c(to, '\n');
}

static struct pp_table *words_table(const struct rows *rows)
{
	struct pp_table *table = pp_table_new("conflict_words", "Which critical sections conflict",
					      word_columns, G_N_ELEMENTS(word_columns));
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < MIN(rows->all->len, WORDS_PAIRS); i++)
		append_words(text, rows->all->pdata[i]);
	table->is_for_text = true;
	table->text = g_string_free(text, FALSE);
	return table;
}

void pp_conflict_tables(const struct pp_conflict_pass *self, GPtrArray *tables)
{
	struct rows rows = {
	    .pass = self,
	    .by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, row_free),
	    .by_pair = g_hash_table_new(NULL, NULL),
	    .all = g_ptr_array_new(),
	};
	struct pp_table *pairs;

	fill_rows(&rows);
	name_places(&rows);
	if (rows.all->len)
		g_ptr_array_add(tables, words_table(&rows));
	pairs = pairs_table(&rows);
	pp_access_notes(pairs, self->context, &self->all);
	if (self->n_same_thread)
		pp_table_note(pairs,
			      "%" G_GUINT64_FORMAT " instances follow one of their own thread on "
			      "the lock, and are not compared",
			      self->n_same_thread);
	g_ptr_array_add(tables, pairs);
	g_ptr_array_add(tables, variables_table(&rows));
	g_hash_table_unref(rows.by_key);
	g_hash_table_unref(rows.by_pair);
	g_ptr_array_unref(rows.all);
}
