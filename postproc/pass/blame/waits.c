/* SPDX-License-Identifier: MIT */
/*
 * The waits by cause, with what the thread to blame did meanwhile, and by waiting call.
 *
 * Cells whose calls read alike share a row.  Either table has every selected wait without a rest,
 * so its sum is that of section `locks`.
 */
#include <inttypes.h>
#include <string.h>

#include "analysis/state/object_row.h"
#include "analysis/state/select_object.h"
#include "pass/blame/blame.h"

enum {
	KIND = PP_OBJECT_CELLS,
	FUNCTION,
	SITE,
	ACQUIRED,
	SHARE,
	WAITS,
	WAIT,
	IDLE,
	RUNNING,
	RUNNABLE,
	BLOCKED_SYNC,
	BLOCKED_IO,
	BLOCKED_OTHER,
	NOT_KNOWN,
	PATH,
	N_COLUMNS
};

static const struct pp_column columns[N_COLUMNS] = {
    PP_OBJECT_COLUMNS,
    [KIND] =
	{"kind", "cause", PP_TYPE_TEXT, PP_COLUMN_KEY,
	 "holder: its thread held the object; caller: it had not made the call yet; hand-over: "
	 "nobody, from then until the waiter ran; unknown, and why"},
    [FUNCTION] = {"function", "call", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED,
		  "the function that ended the hold, or the wait"},
    [SITE] = {"site", "to blame", PP_TYPE_TEXT, PP_COLUMN_KEY, "its call site"},
    [ACQUIRED] = {"acquired", "held since", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_MORE,
		  "the call site that began the hold"},
    [SHARE] = {"share_pct", "share", PP_TYPE_PERCENT, PP_COLUMN_SHARE | PP_COLUMN_STAYS,
	       "share of all waits"},
    [WAITS] = {"waits", "waits", PP_TYPE_COUNT, PP_COLUMN_NO_SUM,
	       "number of waits; one with several causes counts in each row"},
    [WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "the part of their time"},
    [IDLE] = {"idle_ns", "idle", PP_TYPE_TIME_NS, PP_COLUMN_MORE | PP_COLUMN_UNRANKED,
	      "of that, waits that held nothing back; shared among the causes of a waiting call"},
    [RUNNING] = {"running_ns", "running", PP_TYPE_TIME_NS, PP_COLUMN_MORE,
		 "meanwhile the thread to blame was on a CPU"},
    [RUNNABLE] = {"runnable_ns", "runnable", PP_TYPE_TIME_NS, PP_COLUMN_MORE,
		  "... ready without a CPU; hand-over: the waiter was"},
    [BLOCKED_SYNC] = {"blocked_sync_ns", "sync", PP_TYPE_TIME_NS, 0,
		      "... blocked on another object; hand-over: the waiter was not woken yet"},
    [BLOCKED_IO] = {"blocked_io_ns", "I/O", PP_TYPE_TIME_NS, 0, "... blocked in I/O"},
    [BLOCKED_OTHER] = {"blocked_other_ns", "other", PP_TYPE_TIME_NS, 0, "... blocked otherwise"},
    [NOT_KNOWN] = {"unknown_ns", "?", PP_TYPE_TIME_NS, PP_COLUMN_DETAIL,
		   "... what it did is unknown"},
    [PATH] = {"path", "called by", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_PATH,
	      "the functions of the call's path, innermost first"},
};

enum {
	WAITER_FUNCTION = PP_OBJECT_CELLS,
	WAITER_SITE,
	WAITER_SHARE,
	WAITER_WAIT,
	WAITER_IDLE,
	HELD,
	CALLED,
	HANDED_OVER,
	UNKNOWN,
	WAITER_PATH,
	N_WAITER_COLUMNS
};

static const struct pp_column waiter_columns[N_WAITER_COLUMNS] = {
    PP_OBJECT_COLUMNS,
    [WAITER_FUNCTION] = {"function", "call", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED,
			 "the function that waited"},
    [WAITER_SITE] = {"site", "waits at", PP_TYPE_TEXT, PP_COLUMN_KEY, "its call site"},
    [WAITER_SHARE] = {"share_pct", "share", PP_TYPE_PERCENT, PP_COLUMN_SHARE | PP_COLUMN_STAYS,
		      "share of all waits"},
    [WAITER_WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
		     "time in waits: held, no call, hand-over and unknown add up to it"},
    [WAITER_IDLE] = {"idle_ns", "idle", PP_TYPE_TIME_NS, PP_COLUMN_MORE | PP_COLUMN_UNRANKED,
		     "of that, waits that held nothing back"},
    [HELD] = {"held_ns", "held", PP_TYPE_TIME_NS, PP_COLUMN_MORE, "while others held the object"},
    [CALLED] = {"called_ns", "no call", PP_TYPE_TIME_NS, PP_COLUMN_MORE,
		"until others made the call that ended the wait"},
    [HANDED_OVER] = {"handed_over_ns", "hand-over", PP_TYPE_TIME_NS, PP_COLUMN_MORE,
		     "from then until the waiter ran"},
    [UNKNOWN] = {"unknown_ns", "unknown", PP_TYPE_TIME_NS, 0, "for an unknown reason"},
    [WAITER_PATH] = {"path", "called by", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_PATH,
		     "the functions of the call's path, innermost first"},
};

/* --- rows ----------------------------------------------------------------------------------- */

/* A row in the making, of either table. */
struct row {
	const struct pp_object *object;
	enum pp_blame_kind kind;
	unsigned why;
	struct pp_call_text call;
	char *acquired;
	struct pp_blame_figures figures;
	int64_t idle_ns;
	int64_t by_kind_ns[PP_N_BLAME_KINDS];
	const char *key;
};

static void row_free(void *data)
{
	struct row *row = data;

	pp_call_text_done(&row->call);
	g_free(row->acquired);
	g_free(row);
}

/* Collects the cells of both tables. */
struct rows {
	const struct pp_pass_context *context;
	GHashTable *causes, *waiters; /* text -> struct row * */
	int64_t all_ns, idle_ns;
};

/* Takes the texts. */
static struct row *row_of(GHashTable *rows, const struct pp_object *object,
			  const struct pp_blame_cause *cause, struct pp_call_text *call,
			  char *acquired)
{
	char *key = g_strdup_printf("%u %u %u\n%s\n%s\n%s\n%s", object->serial,
				    cause ? cause->kind : 0, cause ? cause->why : 0,
				    pp_text_or_empty(call->function), pp_text_or_empty(call->site),
				    pp_text_or_empty(call->path), pp_text_or_empty(acquired));
	struct row *row = g_hash_table_lookup(rows, key);

	if (row) {
		pp_call_text_done(call);
		g_free(acquired);
		g_free(key);
		return row;
	}
	row = g_new0(struct row, 1);
	row->object = object;
	row->kind = cause ? cause->kind : 0;
	row->why = cause ? cause->why : 0;
	row->call = *call;
	row->acquired = acquired;
	row->key = key;
	g_hash_table_insert(rows, key, row);
	return row;
}

static void add_figures(struct row *row, const struct pp_blame_cell *cell, int64_t idle_ns)
{
	row->idle_ns += idle_ns;
	row->figures.n += cell->figures.n;
	row->figures.ns += cell->figures.ns;
	for (unsigned mode = 0; mode < PP_N_MODES; mode++)
		row->figures.mode_ns[mode] += cell->figures.mode_ns[mode];
	row->by_kind_ns[cell->cause.kind] += cell->figures.ns;
}

static void take_cell(void *data, const struct pp_object *object, const struct pp_blame_cell *cell,
		      int64_t idle_ns)
{
	struct rows *rows = data;
	const struct pp_blame_cause *cause = &cell->cause;
	bool has_call = cause->kind == PP_BLAME_HOLD || cause->kind == PP_BLAME_CALL;
	struct pp_call_text call = {0}, waiter;

	if (!pp_selects_object(rows->context, object))
		return;
	if (has_call)
		call = pp_call_text(rows->context, object->process, &cause->call);
	add_figures(row_of(rows->causes, object, cause, &call,
			   pp_call_text_acquired(rows->context, object->process, cause)),
		    cell, idle_ns);
	waiter = pp_call_text(rows->context, object->process, &cell->waiter);
	add_figures(row_of(rows->waiters, object, NULL, &waiter, NULL), cell, idle_ns);
	rows->all_ns += cell->figures.ns;
	rows->idle_ns += idle_ns;
}

/* Those that hold the program back come first. */
static gint by_wait(gconstpointer a, gconstpointer b)
{
	const struct row *x = a, *y = b;
	int64_t x_ns = x->figures.ns - x->idle_ns, y_ns = y->figures.ns - y->idle_ns;

	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	if (x->figures.ns != y->figures.ns)
		return x->figures.ns > y->figures.ns ? -1 : 1;
	if (x->object->order != y->object->order)
		return x->object->order < y->object->order ? -1 : 1;
	return x->kind != y->kind ? (gint)x->kind - (gint)y->kind : strcmp(x->key, y->key);
}

static GPtrArray *sorted(GHashTable *rows)
{
	g_autoptr(GList) list = g_list_sort(g_hash_table_get_values(rows), by_wait);
	GPtrArray *all = g_ptr_array_new();

	for (const GList *at = list; at; at = at->next)
		g_ptr_array_add(all, at->data);
	return all;
}

static double share_of(const struct row *row, int64_t all_ns)
{
	return 100.0 * (double)row->figures.ns / (double)MAX(all_ns, 1);
}

void pp_blame_set_kind(struct pp_cell *cell, enum pp_blame_kind kind, unsigned why)
{
	static const char *const kinds[PP_N_BLAME_KINDS] = {
	    [PP_BLAME_HOLD] = "holder",
	    [PP_BLAME_CALL] = "caller",
	    [PP_BLAME_HANDOVER] = "hand-over",
	};
	g_autofree char *unknown = kind == PP_BLAME_UNKNOWN
				       ? g_strdup_printf("unknown: %s", pp_blame_why_text(why))
				       : NULL;

	pp_cell_set_text(cell, unknown ? unknown : kinds[kind]);
}

static void set_modes(struct pp_cell *cells, const struct row *row)
{
	static const unsigned at[PP_N_MODES] = {
	    [PP_MODE_RUNNING] = RUNNING,
	    [PP_MODE_RUNNABLE] = RUNNABLE,
	    [PP_MODE_BLOCKED_SYNC] = BLOCKED_SYNC,
	    [PP_MODE_BLOCKED_IO] = BLOCKED_IO,
	    [PP_MODE_BLOCKED_OTHER] = BLOCKED_OTHER,
	    [PP_MODE_UNKNOWN] = NOT_KNOWN,
	};

	if (row->kind != PP_BLAME_UNKNOWN)
		for (unsigned mode = 0; mode < PP_N_MODES; mode++)
			pp_cell_set_time(&cells[at[mode]], row->figures.mode_ns[mode]);
}

static struct pp_table *make_causes(const struct rows *rows)
{
	struct pp_table *table = pp_table_new("blame", "Blame", columns, N_COLUMNS);
	g_autoptr(GPtrArray) all = sorted(rows->causes);

	for (guint i = 0; i < all->len; i++) {
		const struct row *row = all->pdata[i];
		struct pp_cell *cells = pp_table_add_row(table);

		pp_object_row(cells, row->object, rows->context->namer);
		pp_blame_set_kind(&cells[KIND], row->kind, row->why);
		pp_cell_set_text(&cells[FUNCTION], row->call.function);
		pp_cell_set_text(&cells[SITE], row->call.site);
		pp_cell_set_text(&cells[ACQUIRED], row->acquired);
		pp_cell_set_number(&cells[SHARE], share_of(row, rows->all_ns));
		pp_cell_set_count(&cells[WAITS], row->figures.n);
		pp_cell_set_time(&cells[WAIT], row->figures.ns);
		pp_cell_set_time(&cells[IDLE], row->idle_ns);
		set_modes(cells, row);
		pp_cell_set_text(&cells[PATH], row->call.path);
	}
	table->text_rows = PP_BLAME_TEXT_ROWS;
	return table;
}

static struct pp_table *make_waiters(const struct rows *rows)
{
	struct pp_table *table = pp_table_new("blame_waiters", "Waits by waiting call",
					      waiter_columns, N_WAITER_COLUMNS);
	g_autoptr(GPtrArray) all = sorted(rows->waiters);

	for (guint i = 0; i < all->len; i++) {
		const struct row *row = all->pdata[i];
		struct pp_cell *cells = pp_table_add_row(table);

		pp_object_row(cells, row->object, rows->context->namer);
		pp_cell_set_text(&cells[WAITER_FUNCTION], row->call.function);
		pp_cell_set_text(&cells[WAITER_SITE], row->call.site);
		pp_cell_set_number(&cells[WAITER_SHARE], share_of(row, rows->all_ns));
		pp_cell_set_time(&cells[WAITER_WAIT], row->figures.ns);
		pp_cell_set_time(&cells[WAITER_IDLE], row->idle_ns);
		pp_cell_set_time(&cells[HELD], row->by_kind_ns[PP_BLAME_HOLD]);
		pp_cell_set_time(&cells[CALLED], row->by_kind_ns[PP_BLAME_CALL]);
		pp_cell_set_time(&cells[HANDED_OVER], row->by_kind_ns[PP_BLAME_HANDOVER]);
		pp_cell_set_time(&cells[UNKNOWN], row->by_kind_ns[PP_BLAME_UNKNOWN]);
		pp_cell_set_text(&cells[WAITER_PATH], row->call.path);
	}
	table->text_rows = PP_BLAME_TEXT_ROWS;
	return table;
}

/* Waits below this share of the threads' lifetimes are nothing to blame anybody for. */
#define LEAST_PCT 1.0

static void note_share(const struct pp_blame *blame, struct pp_table *table,
		       const struct rows *rows)
{
	int64_t lifetimes_ns = pp_thread_lifetimes_ns(pp_blame_states(blame), rows->context->model);
	double share;

	if (lifetimes_ns <= 0 || pp_selects_by(rows->context, PP_SELECT_ALL & ~PP_SELECT_TIME))
		return;
	share = 100.0 * (double)(rows->all_ns - rows->idle_ns) / (double)lifetimes_ns;
	if (share < LEAST_PCT)
		pp_table_note(table,
			      "nothing to blame: waits that are not idle are %.1f %% of the "
			      "threads' lifetimes",
			      share);
}

void pp_blame_wait_tables(const struct pp_pass_context *context, const struct pp_blame *blame,
			  struct pp_table **ret_causes, struct pp_table **ret_waiters)
{
	struct rows rows = {
	    .context = context,
	    .causes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, row_free),
	    .waiters = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, row_free),
	};

	pp_blame_walk(blame, take_cell, &rows);
	*ret_causes = make_causes(&rows);
	note_share(blame, *ret_causes, &rows);
	*ret_waiters = make_waiters(&rows);
	note_share(blame, *ret_waiters, &rows);
	g_hash_table_unref(rows.causes);
	g_hash_table_unref(rows.waiters);
}
