/* SPDX-License-Identifier: MIT */
/* A quantity is a row of a table that tells from which rows of a report its value is summed up. */
#include "budget/quantity.h"

#include <string.h>

#define NO_SCHEDULING "the capture has no scheduling events"
#define NO_SYNC	      "the capture has no record of synchronization"
#define NOT_ALL	      "not all operations were recorded (sync.mode)"
#define NO_CALLS      "calls are counted in programs built with -pg only"
#define NO_SAMPLES    "the capture has no samples of CPU time"

#define SUMMARY                                                                                    \
	{                                                                                          \
		"summary", "summary"                                                               \
	}
#define LOCKS                                                                                      \
	{                                                                                          \
		"locks", "locks"                                                                   \
	}
#define THREADS                                                                                    \
	{                                                                                          \
		"threads", "threads"                                                               \
	}
#define FUNCTIONS                                                                                  \
	{                                                                                          \
		"flat", "functions"                                                                \
	}

#define OF_LIFETIMES .whole_table = THREADS, .whole = "lifetime_ns"
#define OF_SYNC	     .proof = "sync_wait_ns", .why = NOT_ALL
#define OF_LOCK	     .name = PP_BUDGET_OBJECT, .table = LOCKS, OF_SYNC
#define OF_THREAD    .name = PP_BUDGET_THREAD, .table = THREADS, OF_LIFETIMES, .whole_is_named = true

const struct pp_budget_quantity pp_budget_quantities[] = {
    {"run time", .table = SUMMARY, .column = "wall_ns",
     .why = "the capture has no end: the program still runs, or its recording was cut short"},
    {"CPU time", .table = SUMMARY, .column = "running_ns", .why = NO_SCHEDULING},
    {"waits", .table = SUMMARY, .column = "sync_wait_ns", .less = "sync_idle_ns", OF_LIFETIMES,
     OF_SYNC},
    {"waits for", OF_LOCK, .column = "wait_ns", .less = "idle_ns", OF_LIFETIMES},
    {"longest wait for", OF_LOCK, .column = "wait_max_ns", .is_maximum = true},
    {"acquisitions of", OF_LOCK, .column = "acquired", .unit = PP_BUDGET_COUNT},
    {"contended acquisitions of", OF_LOCK, .column = "contended", .unit = PP_BUDGET_COUNT,
     .whole_table = LOCKS, .whole = "acquired", .whole_is_named = true},
    {"blame of", .name = PP_BUDGET_OBJECT, .table = {"blame", "blame"}, .names = LOCKS,
     .column = "wait_ns", .less = "idle_ns", .where = "kind", .is = "holder", OF_LIFETIMES,
     OF_SYNC},
    {"calls of", .name = PP_BUDGET_FUNCTION, .table = FUNCTIONS, .column = "calls",
     .unit = PP_BUDGET_COUNT, .why = NO_CALLS},
    {"time in", .name = PP_BUDGET_FUNCTION, .table = FUNCTIONS, .column = "self_s", .scale = 1e9,
     .why = NO_SAMPLES},
    {"lifetime of", .name = PP_BUDGET_THREAD, .table = THREADS, .column = "lifetime_ns",
     .why = NO_SCHEDULING},
    {"running of", OF_THREAD, .column = "running_ns", .why = NO_SCHEDULING},
    {"runnable of", OF_THREAD, .column = "runnable_ns", .why = NO_SCHEDULING},
    {"blocked of", OF_THREAD, .column = "blocked_sync_ns", OF_SYNC},
    {0},
};

const char *pp_budget_name_kind(enum pp_budget_name name)
{
	static const char *const kinds[] = {
	    [PP_BUDGET_NO_NAME] = "run",
	    [PP_BUDGET_OBJECT] = "object",
	    [PP_BUDGET_FUNCTION] = "function",
	    [PP_BUDGET_THREAD] = "thread",
	};

	return kinds[name];
}

/* --- rows with a name ----------------------------------------------------------------------- */

enum match { EXACTLY, AS_PATTERN };

static const char *text_of(const struct pp_table *table, guint row, const char *column)
{
	const struct pp_cell *cell = pp_table_cell(table, row, column);

	return cell ? cell->text : NULL;
}

/* Rows of functions have no name but their own; their group is that of the thread. */
static bool has_name(const struct pp_table *table, guint row, enum pp_budget_name kind,
		     const char *name, enum match match)
{
	const char *names[] = {
	    text_of(table, row, "name"),
	    kind == PP_BUDGET_FUNCTION ? NULL : text_of(table, row, "group"),
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
		if (names[i] && (match == EXACTLY ? g_str_equal(names[i], name)
						  : g_pattern_match_simple(name, names[i])))
			return true;
	return false;
}

static bool has_row(const struct pp_table *table, enum pp_budget_name kind, const char *name,
		    enum match match)
{
	for (guint row = 0; row < table->rows->len; row++)
		if (has_name(table, row, kind, name, match))
			return true;
	return false;
}

/* --- sums ----------------------------------------------------------------------------------- */

static const struct pp_table *find_table(struct pp_table *const *tables, guint n_tables,
					 const char *key)
{
	for (guint i = 0; i < n_tables; i++)
		if (g_str_equal(tables[i]->key, key))
			return tables[i];
	return NULL;
}

/* Adds the row's figure.  Returns false if it is missing. */
static bool add_figure(const struct pp_table *table, guint row, const char *column, double factor,
		       bool is_maximum, double *sum)
{
	const struct pp_cell *cell = pp_table_cell(table, row, column);
	double value;

	if (!cell)
		return false;
	value = factor * pp_cell_number(cell, table->columns[pp_table_column(table, column)].type);
	*sum = is_maximum ? MAX(*sum, value) : *sum + value;
	return true;
}

struct sum {
	double value;
	guint n_rows;
	bool is_missing; /* a row has no figure */
};

/* Sums up the quantity's column, or that of its whole. */
static struct sum sum_up(const struct pp_budget_quantity *quantity, const char *name,
			 enum match match, const struct pp_table *table)
{
	double scale = quantity->scale != 0 ? quantity->scale : 1;
	struct sum sum = {0};

	for (guint row = 0; row < table->rows->len; row++) {
		if ((quantity->name && !has_name(table, row, quantity->name, name, match)) ||
		    (quantity->where &&
		     g_strcmp0(text_of(table, row, quantity->where), quantity->is) != 0))
			continue;
		sum.n_rows++;
		if (!add_figure(table, row, quantity->column, scale, quantity->is_maximum,
				&sum.value) ||
		    (quantity->less &&
		     !add_figure(table, row, quantity->less, -scale, false, &sum.value)))
			sum.is_missing = true;
	}
	return sum;
}

static void set_unknown(struct pp_budget_value *ret, const char *why)
{
	ret->known = PP_BUDGET_UNKNOWN;
	ret->why = g_strdup(why);
}

/* The value's share of the whole. */
static void measure_share(const struct pp_budget_quantity *quantity, const char *name,
			  enum match match, const struct pp_table *table,
			  struct pp_budget_value *ret)
{
	const struct pp_budget_quantity of_whole = {
	    .name = quantity->whole_is_named ? quantity->name : PP_BUDGET_NO_NAME,
	    .column = quantity->whole,
	};
	struct sum whole = {0};

	if (table)
		whole = sum_up(&of_whole, name, match, table);
	if (!table || whole.is_missing)
		set_unknown(ret, quantity->why);
	else
		ret->share = whole.value > 0 ? 100 * ret->value / whole.value : 0;
}

static bool is_proven(const struct pp_budget_quantity *quantity, struct pp_table *const *tables,
		      guint n_tables)
{
	const struct pp_table *summary = find_table(tables, n_tables, "summary");

	return !quantity->proof || (summary && pp_table_cell(summary, 0, quantity->proof));
}

void pp_budget_measure(const struct pp_budget_quantity *quantity, const char *name,
		       struct pp_table *const *tables, guint n_tables, struct pp_budget_value *ret)
{
	const struct pp_table *table = find_table(tables, n_tables, quantity->table.key);
	const struct pp_table *names =
	    quantity->names.key ? find_table(tables, n_tables, quantity->names.key) : table;
	enum match match = EXACTLY;
	struct sum sum;

	*ret = (struct pp_budget_value){0};
	if (!table || !names || !is_proven(quantity, tables, n_tables)) {
		set_unknown(ret, quantity->proof ? NO_SYNC : quantity->why);
		return;
	}
	if (quantity->name && !has_row(names, quantity->name, name, match)) {
		match = AS_PATTERN;
		if (!has_row(names, quantity->name, name, match)) {
			ret->known = PP_BUDGET_ABSENT;
			return;
		}
	}
	sum = sum_up(quantity, name, match, table);
	ret->value = sum.value;
	if (sum.is_missing || (!quantity->name && !sum.n_rows))
		set_unknown(ret, quantity->why);
	else if (quantity->whole)
		measure_share(quantity, name, match,
			      find_table(tables, n_tables, quantity->whole_table.key), ret);
}
