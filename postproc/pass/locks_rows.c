/* SPDX-License-Identifier: MIT */
/*
 * The table of pass/locks.c: objects, their call sites, and the holds that waits of each site
 * found.
 */
#include <inttypes.h>
#include <string.h>

#include "pass/locks.h"
#include "analysis/state/object_fold.h"
#include "analysis/state/object_row.h"
#include "analysis/select.h"
#include "analysis/state/select_object.h"

enum {
	OBJECTS = PP_OBJECT_CELLS,
	ACQUIRED,
	CONTENDED,
	TIMED_OUT,
	WAIT,
	WAIT_RUNNABLE,
	IDLE,
	IDLE_WAIT,
	IDLE_RUNNABLE,
	WAIT_MEAN,
	WAIT_P50,
	WAIT_P99,
	WAIT_MAX,
	FAILED,
	SPINS,
	SPIN,
	SPIN_MAX,
	HOLD,
	HOLD_MEAN,
	HOLD_P50,
	HOLD_P99,
	HOLD_MAX,
	SITES,
	N_COLUMNS,
};

/* For waits and for holds; analysis/percentiles.h gives the error of percentiles. */
#define SPREAD_COLUMNS(first, prefix, what)                                                        \
	[first] = {prefix "_mean_ns", "mean", PP_TYPE_TIME_NS,                                     \
		   PP_COLUMN_NO_SUM | PP_COLUMN_DETAIL, "the mean " what},                         \
	[first + 1] = {prefix "_p50_ns", "p50", PP_TYPE_TIME_NS,                                   \
		       PP_COLUMN_NO_SUM | PP_COLUMN_DETAIL, "median"},                             \
	[first + 2] = {prefix "_p99_ns", "p99", PP_TYPE_TIME_NS, PP_COLUMN_NO_SUM,                 \
		       "99th percentile"},                                                         \
	[first + 3] = {prefix "_max_ns", "longest", PP_TYPE_TIME_NS,                               \
		       PP_COLUMN_MAX | PP_COLUMN_MORE, "the longest " what}

enum {
	HOLDER_SITE,
	HOLDER_FUNCTION,
	HOLDER_CONTENDED,
	HOLDER_WAIT,
	HOLDER_WAIT_MAX,
	HOLDER_SPIN,
	HOLDER_ADDRESS,
	HOLDER_WHY,
	N_HOLDER_COLUMNS,
};

static const struct pp_column holder_columns[N_HOLDER_COLUMNS] = {
    [HOLDER_SITE] = {"site", "held since", PP_TYPE_TEXT, PP_COLUMN_KEY,
		     "call site of the holder's acquisition; none: see why"},
    [HOLDER_FUNCTION] = {"function", "taken with", PP_TYPE_TEXT, PP_COLUMN_KEY,
			 "operation of that call"},
    [HOLDER_CONTENDED] = {"contended", "contended", PP_TYPE_COUNT, 0, "calls that waited for it"},
    [HOLDER_WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "total wait time"},
    [HOLDER_WAIT_MAX] = {"wait_max_ns", "longest", PP_TYPE_TIME_NS, PP_COLUMN_MAX,
			 "the longest wait"},
    [HOLDER_SPIN] = {"spin_ns", "spinning", PP_TYPE_TIME_NS, 0, "total time of spins on it"},
    [HOLDER_ADDRESS] = {"address", "address", PP_TYPE_ADDRESS, PP_COLUMN_ID,
			"run-time return address"},
    [HOLDER_WHY] = {"why", "why", PP_TYPE_TEXT, PP_COLUMN_KEY,
		    "why the hold is unknown; none: it is known"},
};

/* For an object and for a call site. */
#define TRIES_COLUMNS(first)                                                                       \
	[first] = {"failed_tries", "failed", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,                   \
		   "tries that found it not free"},                                                \
	[first + 1] = {"spins", "spins", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,                       \
		       "runs of failed tries that ended in success"},                              \
	[first + 2] = {"spin_ns", "spinning", PP_TYPE_TIME_NS, PP_COLUMN_JSON_ONLY,                \
		       "total time of these runs"},                                                \
	[first + 3] = {"spin_max_ns", "longest", PP_TYPE_TIME_NS,                                  \
		       PP_COLUMN_JSON_ONLY | PP_COLUMN_MAX, "the longest run"}

/* For an object and for a call site. */
#define IDLE_COLUMNS(first)                                                                        \
	[first] = {"idle", "idle waits", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,                       \
		   "of these, waits for work, for a thread's end or for time: nothing was held, "  \
		   "and nobody depended on the waiter"},                                           \
	[first + 1] = {"idle_ns", "idle", PP_TYPE_TIME_NS, PP_COLUMN_UNRANKED,                     \
		       "part of the wait that was idle"}

enum {
	SITE_SITE,
	SITE_FUNCTION,
	SITE_CALLS,
	SITE_CONTENDED,
	SITE_WAIT,
	SITE_IDLE,
	SITE_IDLE_WAIT,
	SITE_WAIT_MEAN,
	SITE_WAIT_P50,
	SITE_WAIT_P99,
	SITE_WAIT_MAX,
	SITE_FAILED,
	SITE_SPINS,
	SITE_SPIN,
	SITE_SPIN_MAX,
	SITE_HOLD,
	SITE_HOLD_MEAN,
	SITE_HOLD_P50,
	SITE_HOLD_P99,
	SITE_HOLD_MAX,
	SITE_ADDRESS,
	SITE_HOLDERS,
	N_SITE_COLUMNS,
};

static const struct pp_column site_columns[N_SITE_COLUMNS] = {
    [SITE_SITE] = {"site", "site", PP_TYPE_TEXT, PP_COLUMN_KEY, "call site"},
    [SITE_FUNCTION] = {"function", "function", PP_TYPE_TEXT, PP_COLUMN_KEY, "the operation"},
    [SITE_CALLS] = {"calls", "calls", PP_TYPE_COUNT, 0,
		    "number of calls, failed attempts included"},
    [SITE_CONTENDED] = {"contended", "contended", PP_TYPE_COUNT, 0, "calls that waited"},
    [SITE_WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "total wait time"},
    IDLE_COLUMNS(SITE_IDLE),
    SPREAD_COLUMNS(SITE_WAIT_MEAN, "wait", "wait"),
    TRIES_COLUMNS(SITE_FAILED),
    [SITE_HOLD] = {"hold_ns", "held", PP_TYPE_TIME_NS, 0, "hold time after these acquisitions"},
    SPREAD_COLUMNS(SITE_HOLD_MEAN, "hold", "hold"),
    [SITE_ADDRESS] = {"address", "address", PP_TYPE_ADDRESS, PP_COLUMN_ID,
		      "run-time return address of the call"},
    [SITE_HOLDERS] = {"holders", "holders", PP_TYPE_TABLE, PP_COLUMN_JSON_ONLY,
		      "call sites of the holders' acquisitions", holder_columns, N_HOLDER_COLUMNS},
};

static const struct pp_column columns[N_COLUMNS] = {
    PP_OBJECT_COLUMNS,
    [OBJECTS] = {"objects", "objects", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,
		 "1, or the number of objects that this row stands for: they no longer exist"},
    [ACQUIRED] = {"acquired", "acquired", PP_TYPE_COUNT, 0,
		  "number of acquisitions; re-acquisitions by condition waits included"},
    [CONTENDED] = {"contended", "contended", PP_TYPE_COUNT, PP_COLUMN_MORE,
		   "number of calls that found it not free"},
    [TIMED_OUT] = {"timed_out", "timed out", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,
		   "of these, calls that timed out"},
    [WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
	      "total wait time of threads for it"},
    [WAIT_RUNNABLE] = {"wait_runnable_ns", "without CPU", PP_TYPE_TIME_NS, PP_COLUMN_JSON_ONLY,
		       "of this, ready to run without a CPU"},
    IDLE_COLUMNS(IDLE),
    [IDLE_RUNNABLE] = {"idle_runnable_ns", "without CPU", PP_TYPE_TIME_NS, PP_COLUMN_JSON_ONLY,
		       "of this, ready to run without a CPU"},
    SPREAD_COLUMNS(WAIT_MEAN, "wait", "wait"),
    TRIES_COLUMNS(FAILED),
    [HOLD] = {"hold_ns", "held", PP_TYPE_TIME_NS, PP_COLUMN_MORE,
	      "time from acquisition to release; none for objects without an owner"},
    SPREAD_COLUMNS(HOLD_MEAN, "hold", "hold"),
    [SITES] = {"sites", "sites", PP_TYPE_TABLE, PP_COLUMN_JSON_ONLY, "call sites of acquisitions",
	       site_columns, N_SITE_COLUMNS},
};

/* The waits and spins by which call sites are sorted. */
static int64_t wait_of_site(const struct pp_lock_site *site)
{
	const struct pp_lock_waits *waits = pp_lock_waits_of(site);

	return waits->wait_ns - waits->idle_total.ns + waits->tries.spin_ns;
}

static gint compare_sites(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct pp_lock_site *x = a, *y = b;
	int64_t wait_of_x = wait_of_site(x), wait_of_y = wait_of_site(y);

	(void)data;
	if (wait_of_x != wait_of_y)
		return wait_of_x < wait_of_y ? 1 : -1;
	wait_of_x = pp_lock_waits_of(x)->wait_ns;
	wait_of_y = pp_lock_waits_of(y)->wait_ns;
	if (wait_of_x != wait_of_y)
		return wait_of_x < wait_of_y ? 1 : -1;
	if (x->hold_ns != y->hold_ns)
		return x->hold_ns < y->hold_ns ? 1 : -1;
	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return x->key.address < y->key.address ? -1 : x->key.address > y->key.address;
}

/* Longest total wait first, idle waits last; then longest total hold, then order of appearance. */
static gint compare_objects(gconstpointer a, gconstpointer b)
{
	const struct pp_ranked_lock *x = a, *y = b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	if (x->idle_ns != y->idle_ns)
		return x->idle_ns < y->idle_ns ? 1 : -1;
	if (x->hold_ns != y->hold_ns)
		return x->hold_ns < y->hold_ns ? 1 : -1;
	return x->order < y->order ? -1 : 1;
}

bool pp_lock_is_counted(const struct pp_object *object)
{
	return object->process->only_waits && object->type != GM_SYNC_TYPE_thread &&
	       object->type != GM_SYNC_TYPE_barrier;
}

bool pp_lock_has_holds(const struct pp_object *object)
{
	return pp_object_is_lock(object) && !object->process->only_waits;
}

/* Hold times are also known if they are counted (sync.holds). */
static bool holds_are_known(const struct pp_locks *self, const struct pp_object *object)
{
	return pp_lock_has_holds(object) ||
	       (pp_object_is_lock(object) && object->process->holds_timed && self->has_counted);
}

static bool is_counted(const struct pp_locks *self, const struct pp_object *object)
{
	return pp_lock_is_counted(object) && !holds_are_known(self, object);
}

/* Failed calls are counted, but not here. */
bool pp_lock_calls_are_known(const struct pp_locks *self, const struct pp_object *object,
			     enum st_event op)
{
	return !pp_lock_is_counted(object) ||
	       (pp_sync_has(op, PP_SYNC_BLOCKS) && holds_are_known(self, object));
}

char *pp_lock_site_text(const struct pp_locks *self, const struct pp_object *object,
			uint64_t address)
{
	const struct pp_namer *namer = self->context->namer;

	return address && namer && namer->site ? namer->site(namer->data, object->process, address)
					       : NULL;
}

/*
 * Fills mean, p50, p99 and longest, beginning with that cell; no values if there are no durations.
 * With n_counted more durations, of which only the longest is known, percentiles are missing.
 */
static void set_spread(struct pp_cell *cells, const struct pp_spread *spread, int64_t sum_ns,
		       uint64_t n_counted, int64_t counted_max_ns)
{
	uint64_t n = spread->n + n_counted;

	if (n)
		pp_cell_set_time(&cells[0], (int64_t)((uint64_t)sum_ns / n));
	if (n && !n_counted) {
		pp_cell_set_time(&cells[1], pp_spread_percentile(spread, 50));
		pp_cell_set_time(&cells[2], pp_spread_percentile(spread, 99));
	}
	pp_cell_set_time(&cells[3], MAX(spread->max_ns, counted_max_ns));
}

void pp_lock_set_tries(struct pp_cell *cells, const struct pp_object *object,
		       const struct pp_lock_tries *tries)
{
	if (pp_lock_is_counted(object) && object->process->no_tries && !tries->n_failed)
		return;
	pp_cell_set_count(&cells[0], tries->n_failed);
	pp_cell_set_count(&cells[1], tries->n_spins);
	pp_cell_set_time(&cells[2], tries->spin_ns);
	pp_cell_set_time(&cells[3], tries->spin_max_ns);
}

static gint compare_holders(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct pp_lock_holder *x = a, *y = b;

	(void)data;
	if (x->wait_ns + x->spin_ns != y->wait_ns + y->spin_ns)
		return x->wait_ns + x->spin_ns < y->wait_ns + y->spin_ns ? 1 : -1;
	if (x->key.detail != y->key.detail)
		return x->key.detail < y->key.detail ? -1 : 1;
	return x->key.address < y->key.address ? -1 : x->key.address > y->key.address;
}

static struct pp_table *holders_table(const struct pp_locks *self, const struct pp_object *object,
				      const struct pp_lock_site *site)
{
	struct pp_table *table = pp_table_new_nested(&site_columns[SITE_HOLDERS]);

	const struct pp_site_set *holders = &pp_lock_waits_of(site)->holders;

	for (unsigned i = 0; i < holders->n; i++) {
		const struct pp_lock_holder *holder =
		    PP_SITE_SET_AT(holders, struct pp_lock_holder, i);
		g_autofree char *where = pp_lock_site_text(self, object, holder->key.address);
		struct pp_cell *row = pp_table_add_row(table);

		pp_cell_set_text(&row[HOLDER_SITE], where);
		if (holder->key.address) {
			pp_cell_set_text(&row[HOLDER_FUNCTION], pp_sync_function(holder->key.op));
			pp_cell_set_count(&row[HOLDER_ADDRESS],
					  pp_address_runtime(holder->key.address));
		}
		pp_cell_set_count(&row[HOLDER_CONTENDED], holder->contended);
		pp_cell_set_time(&row[HOLDER_WAIT], holder->wait_ns);
		pp_cell_set_time(&row[HOLDER_WAIT_MAX], holder->wait_max_ns);
		pp_cell_set_time(&row[HOLDER_SPIN], holder->spin_ns);
		pp_cell_set_text(&row[HOLDER_WHY], pp_hold_why_text(holder->key.detail));
	}
	return table;
}

static struct pp_table *sites_table(const struct pp_locks *self, const struct pp_object *object,
				    const struct pp_lock *lock)
{
	struct pp_table *table = pp_table_new_nested(&columns[SITES]);

	for (unsigned i = 0; i < lock->sites.n; i++) {
		const struct pp_lock_site *site =
		    PP_SITE_SET_AT(&lock->sites, struct pp_lock_site, i);
		const struct pp_lock_waits *waits = pp_lock_waits_of(site);
		g_autofree char *where = pp_lock_site_text(self, object, site->key.address);
		struct pp_cell *row = pp_table_add_row(table);

		pp_cell_set_text(&row[SITE_SITE], where);
		if (site->key.address)
			pp_cell_set_count(&row[SITE_ADDRESS],
					  pp_address_runtime(site->key.address));
		pp_cell_set_text(&row[SITE_FUNCTION], pp_sync_function(site->key.op));
		if (pp_lock_calls_are_known(self, object, site->key.op))
			pp_cell_set_count(&row[SITE_CALLS], site->calls);
		pp_cell_set_count(&row[SITE_CONTENDED], waits->contended);
		pp_cell_set_time(&row[SITE_WAIT], waits->wait_ns);
		pp_cell_set_count(&row[SITE_IDLE], waits->idle_total.n);
		pp_cell_set_time(&row[SITE_IDLE_WAIT], waits->idle_total.ns);
		set_spread(&row[SITE_WAIT_MEAN], &waits->spread, waits->wait_ns, 0, 0);
		if (pp_sync_has(site->key.op, PP_SYNC_TRIES))
			pp_lock_set_tries(&row[SITE_FAILED], object, &waits->tries);
		if (holds_are_known(self, object)) {
			pp_cell_set_time(&row[SITE_HOLD], site->hold_ns);
			set_spread(&row[SITE_HOLD_MEAN], &site->holds, site->hold_ns,
				   site->n_counted, site->counted_max_ns);
		}
		pp_cell_set_table(&row[SITE_HOLDERS], holders_table(self, object, site));
	}
	return table;
}

static void add_row(struct pp_table *table, const struct pp_locks *self,
		    const struct pp_object *object)
{
	const struct pp_lock *lock = object->data;
	struct pp_cell *row = pp_table_add_row(table);
	struct pp_spread waits = {0}, holds = {0};
	struct pp_lock_tries tries = pp_lock_tries(lock);
	struct pp_idle_total idle = {0};
	uint64_t n_counted = 0;
	int64_t counted_max_ns = 0;

	for (unsigned i = 0; i < lock->sites.n; i++) {
		const struct pp_lock_site *site =
		    PP_SITE_SET_AT(&lock->sites, struct pp_lock_site, i);

		pp_spread_merge(&waits, &pp_lock_waits_of(site)->spread);
		pp_idle_total_add(&idle, &pp_lock_waits_of(site)->idle_total);
		pp_spread_merge(&holds, &site->holds);
		n_counted += site->n_counted;
		counted_max_ns = MAX(counted_max_ns, site->counted_max_ns);
	}
	pp_object_row(row, object, self->context->namer);
	pp_cell_set_count(&row[OBJECTS], pp_object_count(object));
	if (!is_counted(self, object))
		pp_cell_set_count(&row[ACQUIRED], lock->acquired);
	pp_cell_set_count(&row[CONTENDED], lock->contended);
	pp_cell_set_count(&row[TIMED_OUT], lock->timed_out);
	pp_cell_set_time(&row[WAIT], lock->wait_ns);
	if (self->context->has_kernel && self->context->has_wakings) {
		pp_cell_set_time(&row[WAIT_RUNNABLE], lock->runnable_ns);
		pp_cell_set_time(&row[IDLE_RUNNABLE], idle.runnable_ns);
	}
	pp_cell_set_count(&row[IDLE], idle.n);
	pp_cell_set_time(&row[IDLE_WAIT], idle.ns);
	set_spread(&row[WAIT_MEAN], &waits, lock->wait_ns, 0, 0);
	pp_lock_set_tries(&row[FAILED], object, &tries);
	if (holds_are_known(self, object)) {
		pp_cell_set_time(&row[HOLD], lock->hold_ns);
		set_spread(&row[HOLD_MEAN], &holds, lock->hold_ns, n_counted, counted_max_ns);
	}
	pp_cell_set_table(&row[SITES], sites_table(self, object, lock));
	pp_spread_done(&waits);
	pp_spread_done(&holds);
}

static void sort_lock(struct pp_lock *lock)
{
	if (lock->sites.n > 1)
		g_qsort_with_data(lock->sites.items, (gint)lock->sites.n,
				  sizeof(struct pp_lock_site), compare_sites, NULL);
	for (unsigned i = 0; i < lock->sites.n; i++) {
		struct pp_lock_waits *waits =
		    PP_SITE_SET_AT(&lock->sites, struct pp_lock_site, i)->waits;

		if (waits && waits->holders.n > 1)
			g_qsort_with_data(waits->holders.items, (gint)waits->holders.n,
					  sizeof(struct pp_lock_holder), compare_holders, NULL);
	}
}

GArray *pp_locks_used(const struct pp_locks *self)
{
	GArray *used = g_array_new(FALSE, FALSE, sizeof(struct pp_ranked_lock));

	for (guint i = 0; i < self->objects.all->len; i++) {
		struct pp_object *object = self->objects.all->pdata[i];
		struct pp_lock *lock = object ? object->data : NULL;

		if (lock && lock->sites.n && pp_selects_object(self->context, object)) {
			int64_t idle_ns = pp_lock_settle_idle(object);
			struct pp_ranked_lock ranked = {
			    lock->wait_ns - idle_ns + pp_lock_tries(lock).spin_ns, idle_ns,
			    lock->hold_ns, object->order, object};

			sort_lock(lock);
			g_array_append_val(used, ranked);
		}
	}
	g_array_sort(used, compare_objects);
	return used;
}

/*
 * Text shows the first rows and the objects with the longest waits except threads (pass/top.h),
 * which are always among the first.
 */
static bool is_shown(const struct pp_locks *self, const struct pp_object *object, guint n_rows,
		     unsigned *n_others)
{
	bool is_thread = object->type == GM_SYNC_TYPE_thread;

	if (self->context->for_text && n_rows >= PP_LOCKS_TEXT_ROWS &&
	    (is_thread || *n_others >= PP_LOCKS_TEXT_ROWS))
		return false;
	*n_others += !is_thread;
	return true;
}

static void note_lost_holds(struct pp_table *table, const struct pp_model *model)
{
	uint64_t n = 0;

	for (guint i = 0; i < model->processes->len; i++)
		n += ((const struct pp_process *)model->processes->pdata[i])->holds_lost;
	if (n)
		pp_table_note(table,
			      "%" G_GUINT64_FORMAT
			      " uncontended holds are missing: the file sync-holds could not grow",
			      n);
}

/* Folded objects are not counted by number of rows. */
static void note_folded(struct pp_table *table, const GArray *used)
{
	uint64_t n = 0, n_rows = 0;

	for (guint i = 0; i < used->len; i++) {
		const struct pp_object *object =
		    g_array_index(used, struct pp_ranked_lock, i).object;

		n += object->n_folded;
		n_rows += pp_object_is_group(object);
	}
	if (n)
		pp_table_note(table,
			      "%" PRIu64 " objects no longer existed at the end and share %" PRIu64
			      " rows, by type and call site of initialization; of the objects that "
			      "ended, at most %u, with the longest waits, have rows of their own",
			      n, n_rows, PP_OBJECTS_KEPT);
}

struct pp_table *pp_locks_table(const struct pp_locks *self, const GArray *used)
{
	struct pp_table *table = pp_table_new("locks", "Locks", columns, N_COLUMNS);
	uint64_t n_counted = 0, n_timed = 0, n_untimed = 0;
	unsigned n_others = 0;

	table->text_rows = PP_LOCKS_TEXT_ROWS;
	for (guint i = 0; i < used->len; i++) {
		const struct pp_object *object =
		    g_array_index(used, struct pp_ranked_lock, i).object;

		if (is_shown(self, object, table->rows->len, &n_others))
			add_row(table, self, object);
		else
			table->n_left_out++;
		if (is_counted(self, object))
			n_counted += pp_object_count(object);
		if (pp_object_is_lock(object) && is_counted(self, object))
			n_untimed += pp_object_count(object);
		else if (pp_object_is_lock(object) && pp_lock_is_counted(object))
			n_timed += pp_object_count(object);
	}
	note_folded(table, used);
	if (n_counted)
		pp_table_note(table,
			      "recorded with sync.mode = contended: acquisitions and hold times of "
			      "%" PRIu64 " of these are unknown%s",
			      n_counted,
			      n_untimed && !self->has_counted ? " for a part of the time"
			      : n_untimed ? "; --set sync.holds=yes measures them"
					  : "");
	if (n_timed)
		pp_table_note(table,
			      "uncontended holds of %" PRIu64
			      " of these were added up during recording "
			      "(sync.holds) and have no percentiles",
			      n_timed);
	note_lost_holds(table, self->context->model);
	pp_lock_note_unknown(table, used);
	if (self->objects.n_early)
		pp_table_note(table,
			      "%" PRIu64
			      " locks were acquired before the events that the ring has: "
			      "these holds are not counted",
			      self->objects.n_early);
	if (self->unfinished)
		pp_table_note(table,
			      "%" G_GUINT64_FORMAT " waits never ended: they count up to the end "
			      "of their threads, or of the capture",
			      self->unfinished);
	if (self->held_to_end)
		pp_table_note(table,
			      "%" G_GUINT64_FORMAT " locks were held at the end: they count "
			      "as held until then",
			      self->held_to_end);
	return table;
}
