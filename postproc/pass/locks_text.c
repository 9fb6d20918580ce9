/* SPDX-License-Identifier: MIT */
/*
 * Tables of pass/locks.c that only the text format has.  Each combines, in one table, what JSON has
 * in tables nested in the rows of objects and call sites.
 */
#include "pass/locks.h"

#include "analysis/select.h"
#include "analysis/state/object_row.h"

enum {
	PAIR_OBJECT,
	PAIR_WAITER,
	PAIR_HOLDER,
	PAIR_CONTENDED,
	PAIR_WAIT,
	PAIR_MAX,
	PAIR_SPIN,
	N_PAIR_COLUMNS
};

static const struct pp_column pair_columns[N_PAIR_COLUMNS] = {
    [PAIR_OBJECT] = {"name", "object", PP_TYPE_TEXT, PP_COLUMN_KEY, "the object"},
    [PAIR_WAITER] = {"waiter", "waited at", PP_TYPE_TEXT, PP_COLUMN_KEY, "call site of the waiter"},
    [PAIR_HOLDER] = {"holder", "held since", PP_TYPE_TEXT, PP_COLUMN_KEY,
		     "call site of the holder's acquisition"},
    [PAIR_CONTENDED] = {"contended", "waits", PP_TYPE_COUNT, 0, "how often"},
    [PAIR_WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "total wait time"},
    [PAIR_MAX] = {"wait_max_ns", "longest", PP_TYPE_TIME_NS, 0, "the longest wait"},
    [PAIR_SPIN] = {"spin_ns", "spinning", PP_TYPE_TIME_NS, 0, "total time of spins"},
};

enum {
	TRIES_OBJECT,
	TRIES_SITE,
	TRIES_FUNCTION,
	TRIES_CALLS,
	TRIES_FAILED,
	TRIES_SPINS,
	TRIES_SPIN,
	TRIES_SPIN_MAX,
	N_TRIES_COLUMNS
};

static const struct pp_column tries_columns[N_TRIES_COLUMNS] = {
    [TRIES_OBJECT] = {"name", "object", PP_TYPE_TEXT, PP_COLUMN_KEY, "the object"},
    [TRIES_SITE] = {"site", "tried at", PP_TYPE_TEXT, PP_COLUMN_KEY, "call site"},
    [TRIES_FUNCTION] = {"function", "function", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED,
			"the operation"},
    [TRIES_CALLS] = {"calls", "tries", PP_TYPE_COUNT, 0, "number of calls"},
    [TRIES_FAILED] = {"failed_tries", "failed", PP_TYPE_COUNT, 0, "calls that found it not free"},
    [TRIES_SPINS] = {"spins", "spins", PP_TYPE_COUNT, 0,
		     "runs of failed tries that ended in success"},
    [TRIES_SPIN] = {"spin_ns", "spinning", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
		    "total time of these runs"},
    [TRIES_SPIN_MAX] = {"spin_max_ns", "longest", PP_TYPE_TIME_NS, 0, "the longest run"},
};

static gint compare_pairs(gconstpointer a, gconstpointer b)
{
	const struct pp_cell *x = *(struct pp_cell *const *)a, *y = *(struct pp_cell *const *)b;

	int64_t of_x = x[PAIR_WAIT].time_ns + x[PAIR_SPIN].time_ns;
	int64_t of_y = y[PAIR_WAIT].time_ns + y[PAIR_SPIN].time_ns;

	return of_x < of_y ? 1 : -(of_x > of_y);
}

/* Rows in order of objects, call sites, and holds found. */
static void add_pairs(struct pp_table *table, const struct pp_locks *self,
		      const struct pp_object *object)
{
	const struct pp_lock *lock = object->data;
	g_autofree char *name = NULL;

	for (unsigned s = 0; s < lock->sites.n; s++) {
		const struct pp_lock_site *site =
		    PP_SITE_SET_AT(&lock->sites, struct pp_lock_site, s);
		const struct pp_site_set *holders = &pp_lock_waits_of(site)->holders;

		for (unsigned h = 0; h < holders->n; h++) {
			const struct pp_lock_holder *holder =
			    PP_SITE_SET_AT(holders, struct pp_lock_holder, h);
			g_autofree char *waiter =
			    pp_lock_site_text(self, object, site->key.address);
			g_autofree char *where =
			    pp_lock_site_text(self, object, holder->key.address);
			const char *why = pp_hold_why_text(holder->key.detail);
			g_autofree char *unknown = why ? g_strdup_printf("(%s)", why) : NULL;
			struct pp_cell *row = pp_table_add_row(table);

			if (!name)
				name = pp_object_name(object, self->context->namer);
			pp_cell_set_text(&row[PAIR_OBJECT], name);
			pp_cell_set_text(&row[PAIR_WAITER], waiter);
			pp_cell_set_text(&row[PAIR_HOLDER], unknown ? unknown : where);
			pp_cell_set_count(&row[PAIR_CONTENDED], holder->contended);
			pp_cell_set_time(&row[PAIR_WAIT], holder->wait_ns);
			pp_cell_set_time(&row[PAIR_MAX], holder->wait_max_ns);
			pp_cell_set_time(&row[PAIR_SPIN], holder->spin_ns);
		}
	}
}

struct pp_table *pp_lock_pairs_table(const struct pp_locks *self, const GArray *used)
{
	struct pp_table *table =
	    pp_table_new("lock_waits", "Waits for locks, by call site of the holder", pair_columns,
			 N_PAIR_COLUMNS);

	for (guint i = 0; i < used->len; i++)
		add_pairs(table, self, g_array_index(used, struct pp_ranked_lock, i).object);
	g_ptr_array_sort(table->rows, compare_pairs);
	table->text_rows = PP_LOCKS_TEXT_ROWS;
	table->is_for_text = true;
	if (table->rows->len)
		return table;
	pp_table_free(table);
	return NULL;
}

static gint compare_tries(gconstpointer a, gconstpointer b)
{
	const struct pp_cell *x = *(struct pp_cell *const *)a, *y = *(struct pp_cell *const *)b;

	if (x[TRIES_SPIN].time_ns != y[TRIES_SPIN].time_ns)
		return x[TRIES_SPIN].time_ns < y[TRIES_SPIN].time_ns ? 1 : -1;
	return x[TRIES_FAILED].count < y[TRIES_FAILED].count
		   ? 1
		   : -(x[TRIES_FAILED].count > y[TRIES_FAILED].count);
}

static void add_tries_row(struct pp_table *table, const struct pp_locks *self,
			  const struct pp_object *object, const struct pp_lock_site *site)
{
	g_autofree char *name = pp_object_name(object, self->context->namer);
	g_autofree char *where = pp_lock_site_text(self, object, site->key.address);
	struct pp_cell *row = pp_table_add_row(table);

	pp_cell_set_text(&row[TRIES_OBJECT], name);
	pp_cell_set_text(&row[TRIES_SITE], where);
	pp_cell_set_text(&row[TRIES_FUNCTION], pp_sync_function(site->key.op));
	if (pp_lock_calls_are_known(self, object, site->key.op))
		pp_cell_set_count(&row[TRIES_CALLS], site->calls);
	pp_lock_set_tries(&row[TRIES_FAILED], object, &pp_lock_waits_of(site)->tries);
}

static void add_tries(struct pp_table *table, const struct pp_locks *self,
		      const struct pp_object *object)
{
	const struct pp_lock *lock = object->data;

	for (unsigned s = 0; s < lock->sites.n; s++) {
		const struct pp_lock_site *site =
		    PP_SITE_SET_AT(&lock->sites, struct pp_lock_site, s);

		if (pp_lock_waits_of(site)->tries.n_failed)
			add_tries_row(table, self, object, site);
	}
}

struct pp_table *pp_lock_tries_table(const struct pp_locks *self, const GArray *used)
{
	struct pp_table *table = pp_table_new("lock_tries", "Failed tries, by call site",
					      tries_columns, N_TRIES_COLUMNS);
	bool lacks_tries = false;

	for (guint i = 0; i < used->len; i++) {
		const struct pp_object *object =
		    g_array_index(used, struct pp_ranked_lock, i).object;

		add_tries(table, self, object);
		lacks_tries |= pp_lock_is_counted(object) && object->process->no_tries;
	}
	g_ptr_array_sort(table->rows, compare_tries);
	table->text_rows = PP_LOCKS_TEXT_ROWS;
	table->is_for_text = true;
	if (lacks_tries)
		pp_table_note(table, "without the tries of threads of which only waits were "
				     "recorded; --set sync.mode=all records all");
	if (table->rows->len)
		return table;
	pp_table_free(table);
	return NULL;
}

/* --- errors of estimates -------------------------------------------------------------------- */

enum { ERROR_PID, ERROR_NAME, ERROR_OBJECT, ERROR_GENERATION, ERROR_NS, N_ERROR_COLUMNS };

static const struct pp_column error_columns[N_ERROR_COLUMNS] = {
    [ERROR_PID] = {"pid", "pid", PP_TYPE_COUNT, PP_COLUMN_ID, "the process"},
    [ERROR_NAME] = {"name", "object", PP_TYPE_TEXT, PP_COLUMN_ID, "the object"},
    [ERROR_OBJECT] = {"object", "address", PP_TYPE_ADDRESS, PP_COLUMN_ID, "address"},
    [ERROR_GENERATION] = {"generation", "generation", PP_TYPE_COUNT, PP_COLUMN_ID,
			  "of the objects at this address"},
    [ERROR_NS] = {"error_ns", "error", PP_TYPE_TIME_NS, 0,
		  "of the estimated total of waits and spins: 95 of 100 are off by less"},
};

struct pp_table *pp_lock_errors_table(const struct pp_locks *self, const GArray *used)
{
	const struct pp_selection *selection = self->context->selection;
	struct pp_table *table;

	if (!selection || !selection->windows)
		return NULL;
	table = pp_table_new("lock_errors", "Errors of estimated waits", error_columns,
			     N_ERROR_COLUMNS);
	table->is_for_text = true;
	for (guint i = 0; i < used->len; i++) {
		const struct pp_object *object =
		    g_array_index(used, struct pp_ranked_lock, i).object;
		const struct pp_lock *lock = object->data;
		g_autofree char *name = NULL;
		struct pp_cell *row;

		if (!lock->parts_ns)
			continue;
		name = pp_object_name(object, self->context->namer);
		row = pp_table_add_row(table);
		pp_cell_set_count(&row[ERROR_PID], object->process->pid);
		pp_cell_set_text(&row[ERROR_NAME], name);
		if (!pp_object_is_group(object)) {
			pp_cell_set_count(&row[ERROR_OBJECT], object->address);
			pp_cell_set_count(&row[ERROR_GENERATION], object->generation);
		}
		pp_cell_set_time(&row[ERROR_NS],
				 (int64_t)pp_windows_error(selection->windows, lock->parts_ns));
	}
	return table;
}
