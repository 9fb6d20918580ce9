/* SPDX-License-Identifier: MIT */
/* Without accesses of the changed program, cells that rest on them are missing. */
#include "cli/suggest/difference.h"

#include <string.h>

#include "cli/suggest/times.h"
#include "suggest/compare.h"
#include "suggest/words.h"

/* --- contention ------------------------------------------------------------------------------- */

enum {
	LOCK,
	PATTERN,
	RESULT,
	PAIRS_BEFORE,
	UNNECESSARY_BEFORE,
	PAIRS_AFTER,
	UNNECESSARY_AFTER,
	WAIT_BEFORE,
	WAIT_AFTER,
	N_COLUMNS
};

static const struct pp_column columns[N_COLUMNS] = {
    [LOCK] = {"lock", "lock", PP_TYPE_TEXT, PP_COLUMN_KEY, "the lock; none: all locks together"},
    [PATTERN] = {"pattern", "pattern", PP_TYPE_TEXT, PP_COLUMN_KEY, "of the suggestion"},
    [RESULT] = {"result", "result", PP_TYPE_TEXT, PP_COLUMN_STAYS,
		"gone, still found, or new: the pattern in the runs of the changed program"},
    [PAIRS_BEFORE] = {"pairs_before", "pairs before", PP_TYPE_COUNT, 0,
		      "consecutive sections of different threads"},
    [UNNECESSARY_BEFORE] = {"unnecessary_before", "unnecessary", PP_TYPE_COUNT, 0,
			    "of these, pairs that need not exclude each other"},
    [PAIRS_AFTER] = {"pairs_after", "pairs after", PP_TYPE_COUNT, 0, "the same"},
    [UNNECESSARY_AFTER] = {"unnecessary_after", "unnecessary", PP_TYPE_COUNT, 0, "the same"},
    [WAIT_BEFORE] = {"wait_before_ns", "wait before", PP_TYPE_TIME_NS, 0,
		     "of all threads for the lock, the mean of the runs"},
    [WAIT_AFTER] = {"wait_after_ns", "wait after", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "the same"},
};

static const char no_accesses[] = "not known: the captures of the changed program have no memory "
				  "accesses of critical sections";

/* The mean wait of the runs of one kind.  lock: NULL: for all locks. */
static int64_t mean_wait(const struct pp_suggest_runs *runs, bool with_accesses, const char *lock)
{
	int64_t sum = 0, n = 0;

	for (guint i = 0; i < runs->all->len; i++) {
		const struct pp_suggest_run *run = runs->all->pdata[i];

		if (run->has_accesses != with_accesses)
			continue;
		sum += lock ? pp_suggest_waits_for(&run->waits, lock) : run->waits.all_ns;
		n++;
	}
	return n ? sum / n : 0;
}

static void set_waits(struct pp_cell *row, const struct pp_suggest_difference *difference,
		      const char *lock)
{
	bool with_accesses;

	if (pp_suggest_times_kind(difference->before, difference->after, &with_accesses))
		return;
	pp_cell_set_time(&row[WAIT_BEFORE], mean_wait(difference->before, with_accesses, lock));
	pp_cell_set_time(&row[WAIT_AFTER], mean_wait(difference->after, with_accesses, lock));
}

/* A lock that no thread takes has no pairs. */
static void set_pairs(struct pp_cell *row, unsigned pairs, unsigned unnecessary,
		      const struct pp_suggest_lock *lock)
{
	uint64_t known = 0, n = lock ? pp_suggest_unnecessary(lock, &known) : 0;

	pp_cell_set_count(&row[pairs], known);
	pp_cell_set_count(&row[unnecessary], n);
}

static struct pp_cell *add_lock(struct pp_table *table,
				const struct pp_suggest_difference *difference,
				const struct pp_suggestion *suggestion)
{
	struct pp_cell *row = pp_table_add_row(table);
	const char *name = suggestion->lock->name;

	pp_cell_set_text(&row[LOCK], name);
	pp_cell_set_text(&row[PATTERN], pp_suggest_patterns[suggestion->pattern]);
	set_pairs(row, PAIRS_BEFORE, UNNECESSARY_BEFORE,
		  pp_suggest_lock_named(&difference->before->facts, name));
	if (difference->after->facts.n_runs)
		set_pairs(row, PAIRS_AFTER, UNNECESSARY_AFTER,
			  pp_suggest_lock_named(&difference->after->facts, name));
	set_waits(row, difference, name);
	return row;
}

static const char *result_of(const struct pp_suggest_difference *difference,
			     const struct pp_suggestion *suggestion, const GPtrArray *found_after)
{
	if (!difference->after->facts.n_runs)
		return NULL;
	if (pp_suggest_same(found_after, suggestion))
		return "still found";
	return pp_suggest_lock_named(&difference->after->facts, suggestion->lock->name)
		   ? "gone"
		   : "gone, with the lock";
}

static void note_contention(struct pp_table *table, const struct pp_suggest_difference *difference)
{
	bool with_accesses;
	const char *why =
	    pp_suggest_times_kind(difference->before, difference->after, &with_accesses);

	if (!difference->after->facts.n_runs)
		pp_table_note(table, "pairs after the change are %s", no_accesses);
	if (why)
		pp_table_note(table, "waits are not known: %s", why);
	else
		pp_table_note(table, "waits are those of the captures %s accesses, by run",
			      with_accesses ? "with" : "without");
}

static struct pp_table *contention_table(const struct pp_suggest_difference *difference,
					 const GPtrArray *found_after)
{
	struct pp_table *table = pp_table_new("contention", "Contention before and after", columns,
					      G_N_ELEMENTS(columns));
	struct pp_cell *row;

	for (guint i = 0; i < difference->ranked_before->len; i++) {
		const struct pp_suggestion *suggestion = difference->ranked_before->pdata[i];

		row = add_lock(table, difference, suggestion);
		pp_cell_set_text(&row[RESULT], result_of(difference, suggestion, found_after));
	}
	for (guint i = 0; i < difference->ranked_after->len; i++) {
		const struct pp_suggestion *suggestion = difference->ranked_after->pdata[i];

		if (pp_suggest_same(difference->ranked_before, suggestion))
			continue;
		row = add_lock(table, difference, suggestion);
		pp_cell_set_text(&row[RESULT], "new");
	}
	row = pp_table_add_row(table);
	pp_cell_set_text(&row[RESULT], "all locks");
	set_waits(row, difference, NULL);
	note_contention(table, difference);
	return table;
}

/* --- conflicts -------------------------------------------------------------------------------- */

enum { SITE_A, SITE_B, CONFLICT_LOCK, PROTECTED, CONFLICT_DATA, N_CONFLICT_COLUMNS };

static const struct pp_column conflict_columns[N_CONFLICT_COLUMNS] = {
    [SITE_A] = {"site_a", "sections of", PP_TYPE_TEXT, PP_COLUMN_KEY, "call that enters them"},
    [SITE_B] = {"site_b", "and of", PP_TYPE_TEXT, PP_COLUMN_KEY, "call that enters them"},
    [CONFLICT_LOCK] = {"lock", "lock", PP_TYPE_TEXT, 0, "their lock, or both"},
    [PROTECTED] = {"has_common_lock", "common lock", PP_TYPE_BOOL, 0,
		   "is there a lock that is held in sections of both?"},
    [CONFLICT_DATA] = {"data", "data", PP_TYPE_TEXT, 0,
		       "variables in which sections of the lock conflict"},
};

static const char *site_name(const struct pp_suggest_new_conflict *new, uint32_t site)
{
	return ((const struct pp_suggest_site *)new->lock->sites->pdata[site])->name;
}

static void add_conflict(struct pp_table *table, const struct pp_suggest_new_conflict *new)
{
	struct pp_cell *row = pp_table_add_row(table);
	g_autofree char *data = pp_suggest_data(new->lock);

	pp_cell_set_text(&row[SITE_A], site_name(new, new->a));
	pp_cell_set_text(&row[SITE_B], site_name(new, new->b));
	pp_cell_set_text(&row[CONFLICT_LOCK], new->lock->name);
	pp_cell_set_bool(&row[PROTECTED], true);
	pp_cell_set_text(&row[CONFLICT_DATA], data);
}

static int by_name(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* "a, b": the texts of the set, sorted.  The caller frees it. */
static char *join_set(GHashTable *set)
{
	g_autoptr(GPtrArray) texts = g_ptr_array_new();
	GHashTableIter at;
	void *text;

	g_hash_table_iter_init(&at, set);
	while (g_hash_table_iter_next(&at, &text, NULL))
		g_ptr_array_add(texts, text);
	g_ptr_array_sort(texts, by_name);
	g_ptr_array_add(texts, NULL);
	return g_strjoinv(", ", (char **)texts->pdata);
}

static void add_apart(struct pp_table *table, const struct pp_suggest_apart *apart)
{
	struct pp_cell *row = pp_table_add_row(table);
	g_autofree char *locks = g_strdup_printf("%s, %s", apart->locks[0], apart->locks[1]);
	g_autofree char *data = join_set(apart->data);

	pp_cell_set_text(&row[SITE_A], apart->sites[0]);
	pp_cell_set_text(&row[SITE_B], apart->sites[1]);
	pp_cell_set_text(&row[CONFLICT_LOCK], locks);
	pp_cell_set_bool(&row[PROTECTED], false);
	pp_cell_set_text(&row[CONFLICT_DATA], data);
}

static struct pp_table *conflicts_table(const struct pp_suggest_difference *difference)
{
	struct pp_table *table = pp_table_new("new_conflicts", "New conflicts", conflict_columns,
					      G_N_ELEMENTS(conflict_columns));
	unsigned n_unknown;
	g_autoptr(GPtrArray) aparts =
	    pp_suggest_new_aparts(difference->before->aparts, difference->after->aparts);
	g_autoptr(GArray) all = pp_suggest_new_conflicts(&difference->before->facts,
							 &difference->after->facts, &n_unknown);

	if (!difference->after->facts.n_runs) {
		pp_table_note(table, "new conflicts are %s", no_accesses);
		return table;
	}
	for (guint i = 0; i < aparts->len; i++)
		add_apart(table, aparts->pdata[i]);
	for (guint i = 0; i < all->len; i++)
		add_conflict(table, &g_array_index(all, struct pp_suggest_new_conflict, i));
	if (aparts->len)
		pp_table_note(table, "no lock is ever held in sections of both: unless something "
				     "else orders them, the change is wrong");
	pp_table_note(table, table->rows->len
				 ? "functions whose sections access bytes that one of them "
				   "writes, and did not before"
				 : "sections conflict only where sections of the same functions "
				   "did before");
	if (n_unknown)
		pp_table_note(table,
			      "conflicts that may not be new, as accesses before were not known: "
			      "%u pairs",
			      n_unknown);
	pp_table_note(table, "accesses outside of sections are not known; sections of different "
			     "locks are compared by variables, not by blocks of the heap");
	return table;
}

/* --- cycles ----------------------------------------------------------------------------------- */

enum { CYCLE_LOCKS, CYCLE_VERDICT, CYCLE_STEPS, N_CYCLE_COLUMNS };

static const struct pp_column cycle_columns[N_CYCLE_COLUMNS] = {
    [CYCLE_LOCKS] = {"locks", "locks", PP_TYPE_TEXT, PP_COLUMN_KEY, "that lead to each other"},
    [CYCLE_VERDICT] = {"verdict", "verdict", PP_TYPE_TEXT, 0, "as in graph --kind lock-order"},
    [CYCLE_STEPS] = {"steps", "steps", PP_TYPE_TEXT, 0, "one cycle"},
};

static bool has_cycle(const struct pp_suggest_runs *runs, const struct pp_suggest_cycle *cycle)
{
	for (guint i = 0; i < runs->all->len; i++) {
		const struct pp_suggest_run *run = runs->all->pdata[i];

		for (guint k = 0; k < run->waits.cycles->len; k++) {
			const struct pp_suggest_cycle *other = run->waits.cycles->pdata[k];

			if (strcmp(other->locks, cycle->locks) == 0 &&
			    strcmp(other->verdict, cycle->verdict) == 0)
				return true;
		}
	}
	return false;
}

static void add_cycle(struct pp_table *table, const struct pp_suggest_cycle *cycle)
{
	struct pp_cell *row;

	for (guint i = 0; i < table->rows->len; i++) {
		row = table->rows->pdata[i];
		if (strcmp(row[CYCLE_LOCKS].text, cycle->locks) == 0 &&
		    strcmp(row[CYCLE_VERDICT].text, cycle->verdict) == 0)
			return;
	}
	row = pp_table_add_row(table);
	pp_cell_set_text(&row[CYCLE_LOCKS], cycle->locks);
	pp_cell_set_text(&row[CYCLE_VERDICT], cycle->verdict);
	pp_cell_set_text(&row[CYCLE_STEPS], cycle->steps);
}

static struct pp_table *cycles_table(const struct pp_suggest_difference *difference)
{
	struct pp_table *table = pp_table_new("new_cycles", "New cycles of locks", cycle_columns,
					      G_N_ELEMENTS(cycle_columns));
	const GPtrArray *runs = difference->after->all;

	for (guint i = 0; i < runs->len; i++) {
		const struct pp_suggest_run *run = runs->pdata[i];

		for (guint k = 0; k < run->waits.cycles->len; k++)
			if (!has_cycle(difference->before, run->waits.cycles->pdata[k]))
				add_cycle(table, run->waits.cycles->pdata[k]);
	}
	if (!table->rows->len)
		pp_table_note(table, "threads take locks in no circle that was not there before");
	return table;
}

void pp_suggest_difference_tables(const struct pp_suggest_difference *difference,
				  const GPtrArray *found_after, GPtrArray *tables)
{
	g_ptr_array_add(tables, contention_table(difference, found_after));
	g_ptr_array_add(tables, conflicts_table(difference));
	g_ptr_array_add(tables, cycles_table(difference));
}
