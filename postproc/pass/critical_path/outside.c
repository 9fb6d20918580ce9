/* SPDX-License-Identifier: MIT */
/*
 * Waits on the critical path for something outside of the program: for input, for a child, or for
 * time.  Most of a server's path consists of them, and nothing in the program makes them shorter,
 * so they have a table of their own, and shares of the path are those of the rest.
 *
 * The thread is blocked otherwise than in synchronization or uninterruptible I/O, or in a wait for
 * a condition variable or a semaphore with a timeout; no thread of the program woke it, since the
 * path would continue there; and it holds no lock, since others may have to wait for that.
 */
#include "pass/critical_path/critical_path.h"
#include "analysis/thread_cells.h"

/* Text mentions these waits from this share of the path on. */
#define LEAST_PERCENT 1

/* The key: the thread's serial as op, number of the call site as detail. */
struct outside {
	struct pp_site_key key; /* address: the call's name, a static string; 0: not known */
};

static bool holds_lock(const struct pp_critical_track *track, const struct pp_thread *thread)
{
	for (guint i = 0; i < track->holds->len; i++)
		if (pp_object_is_held(track->holds->pdata[i], thread))
			return true;
	return false;
}

/*
 * A wait for another thread, or for another process that is not in the capture: outside only if
 * wake-ups show that no thread of the program ended it.
 */
static bool may_be_inside(const struct pp_io *io)
{
	enum st_io_kind kind = pp_io_kind(io->call);

	return kind == ST_IO_KIND_futex || kind == ST_IO_KIND_lock || kind == ST_IO_KIND_queue;
}

static bool is_timed_wait(const struct pp_operation *operation)
{
	return operation && pp_sync_has(operation->op, PP_SYNC_TIMED) &&
	       !pp_sync_type_is_lock(pp_sync_type(operation->op));
}

unsigned pp_critical_mode(const struct pp_critical *self, struct pp_critical_track *track,
			  const struct pp_interval *interval)
{
	const struct pp_thread_state *state = pp_thread_state(self->states, interval->thread);
	const char *call = state ? pp_thread_call(state) : NULL;
	const struct pp_io *io = interval->io;
	bool is_outside = false;

	if (io && !self->context->has_wakings && may_be_inside(io))
		return interval->mode;
	if (interval->mode == PP_MODE_BLOCKED_OTHER) {
		is_outside = true;
	} else if (interval->mode == PP_MODE_BLOCKED_IO) {
		/* Reading from a socket, but not from a disk. */
		is_outside = call && !state->uninterruptible &&
			     !(io && pp_io_kind(io->call) == ST_IO_KIND_storage);
	} else if (interval->mode == PP_MODE_BLOCKED_SYNC && is_timed_wait(interval->operation)) {
		is_outside = true;
		call = pp_sync_function(interval->operation->op);
	}
	if (!is_outside || holds_lock(track, interval->thread))
		return interval->mode;
	track->outside_call = call;
	return PP_CRITICAL_MODE_OUTSIDE;
}

void pp_critical_add_outside(struct pp_critical *self, struct pp_critical_track *track,
			     const struct pp_thread *thread, int64_t ns)
{
	const struct pp_site_key key = {
	    .address = (uintptr_t)track->outside_call,
	    .op = thread->serial,
	    .detail = track->place,
	};
	const struct outside *item = pp_site_set_get(&self->outsides, sizeof(*item), &key);
	guint number = (guint)(item - (const struct outside *)self->outsides.items);

	pp_chain_add(&track->chain, pp_critical_key(PP_CRITICAL_OUTSIDE, number, 0), ns);
	pp_chain_add(&track->chain, pp_critical_key(PP_CRITICAL_N_OUTSIDE, number, 0), 1);
}

bool pp_critical_is_outside_shown(const struct pp_critical_sums *path)
{
	return path->outside_ns / LEAST_PERCENT >= path->length_ns / 100 && path->outside_ns > 0;
}

/* --- the table ------------------------------------------------------------------------------ */

enum { CALL = PP_N_NAMED_THREAD_CELLS, COUNT, TIME, SINCE, SITE, N_COLUMNS };

static const struct pp_column columns[N_COLUMNS] = {
    PP_NAMED_THREAD_COLUMNS("name"),
    [CALL] =
	{"call", "call", PP_TYPE_TEXT, PP_COLUMN_KEY,
	 "blocking call, system call (level full), or synchronization function that timed out"},
    [COUNT] = {"count", "waits", PP_TYPE_COUNT, 0, "how often"},
    [TIME] = {"outside_ns", "outside", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
	      "time of the path in it, which is no part of the percentages"},
    [SINCE] = {"since", "since", PP_TYPE_TEXT, PP_COLUMN_KEY,
	       "the thread's last synchronization call; none: its begin, or the call itself"},
    [SITE] = {"site", "at", PP_TYPE_TEXT, PP_COLUMN_KEY, "... and its call site"},
};

static gint compare(gconstpointer a, gconstpointer b)
{
	const struct pp_cell *x = *(struct pp_cell *const *)a, *y = *(struct pp_cell *const *)b;

	return pp_critical_compare(x, y, TIME);
}

static struct pp_cell *add_row(struct pp_table *table, const struct pp_critical *self, guint number)
{
	const struct outside *item = PP_SITE_SET_AT(&self->outsides, struct outside, number);
	const struct pp_call_site *place = pp_call_sites_at(&self->places, item->key.detail);
	g_autofree char *where = pp_call_site_text(place, self->context->namer);
	struct pp_cell *row =
	    pp_named_thread_row(table, self->context->model->threads->pdata[item->key.op]);

	pp_cell_set_text(&row[CALL], (const char *)(uintptr_t)item->key.address);
	if (!pp_op_is_io(place->op))
		pp_cell_set_text(&row[SINCE], pp_call_site_function(place));
	pp_cell_set_text(&row[SITE], where);
	return row;
}

struct pp_table *pp_critical_outside_table(const struct pp_critical_sums *path)
{
	struct pp_table *table =
	    pp_table_new("critical_outside", "Waits for something outside, on the critical path",
			 columns, N_COLUMNS);
	g_autoptr(GHashTable) rows = g_hash_table_new(NULL, NULL);

	for (guint i = 0; i < path->sums->len; i++) {
		const struct pp_chain_entry *entry =
		    &g_array_index(path->sums, struct pp_chain_entry, i);
		enum pp_critical_amount amount = pp_critical_amount_of(entry);
		void *number = GUINT_TO_POINTER(pp_critical_id_of(entry));
		struct pp_cell *row;

		if (amount != PP_CRITICAL_OUTSIDE && amount != PP_CRITICAL_N_OUTSIDE)
			continue;
		row = g_hash_table_lookup(rows, number);
		if (!row) {
			row = add_row(table, path->critical, pp_critical_id_of(entry));
			g_hash_table_insert(rows, number, row);
		}
		if (amount == PP_CRITICAL_OUTSIDE)
			pp_cell_set_time(&row[TIME], entry->amount);
		else
			pp_cell_set_count(&row[COUNT], (uint64_t)entry->amount);
	}
	g_ptr_array_sort(table->rows, compare);
	table->text_rows = PP_CRITICAL_TEXT_ROWS;
	table->is_for_programs = !pp_critical_is_outside_shown(path);
	if (table->rows->len && ((const struct pp_cell *)table->rows->pdata[0])[CALL].missing)
		pp_table_note(table, "calls without a name are not among the recorded blocking "
				     "calls; `record --profile full` records system calls");
	if (table->rows->len)
		return table;
	pp_table_free(table);
	return NULL;
}
