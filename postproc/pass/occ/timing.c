/* SPDX-License-Identifier: MIT */
/*
 * The times of critical sections (analysis/occ/units.h) by thread, as paper 001 needs them: how
 * often each thread entered them, how long it waited for them and was in them, and for how many
 * holders it waited.  A pass without a section of the report: `predict occ` reads its tables.
 *
 * A condition wait re-acquires its mutex: that is an acquisition, but how much of the time the
 * thread waited for the mutex is not known, and counts as none.
 */
#include <errno.h>

#include "analysis/occ/queue.h"
#include "analysis/state/object_state.h"
#include "analysis/thread_cells.h"
#include "pass/occ/releases.h"
#include "pass/occ/sections.h"
#include "pass/occ/timing.h"

const struct pp_column pp_occ_time_columns[PP_N_OCC_TIME_CELLS] = {
    PP_NAMED_THREAD_COLUMNS("name"),
    [PP_OCC_SHARED] = {"shared", "shared", PP_TYPE_COUNT, 0, "acquisitions for reading"},
    [PP_OCC_EXCLUSIVE] = {"exclusive", "exclusive", PP_TYPE_COUNT, 0, "other acquisitions"},
    [PP_OCC_WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "time in waits for it"},
    [PP_OCC_IN_SECTION] = {"hold_ns", "hold", PP_TYPE_TIME_NS, 0, "time in the section"},
    [PP_OCC_HOLDS] = {"holds", "holds", PP_TYPE_COUNT, 0,
		      "holders for which it waited, added up over its acquisitions"},
    [PP_OCC_CONTENDED_RELEASES] = {"contended_releases", "contended releases", PP_TYPE_COUNT, 0,
				   "releases while others waited for the lock"},
};

enum { TIMES = PP_OCC_TIMES, N_COLUMNS };

static const struct pp_column columns[N_COLUMNS] = {
    PP_OCC_SECTION_COLUMNS,
    [TIMES] = {"threads", "threads", PP_TYPE_TABLE, 0, "by thread", pp_occ_time_columns,
	       PP_N_OCC_TIME_CELLS},
};

static const struct pp_column thread_columns[PP_N_OCC_THREAD_CELLS] = {
    PP_NAMED_THREAD_COLUMNS("name"),
    [PP_OCC_EXECUTION] = {"execution_ns", "execution", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
			  "its lifetime without waits for the end of other threads"},
};

static const struct pp_column cost_columns[PP_N_OCC_COST_CELLS] = {
    [PP_OCC_RELEASE_COST] = {"release_ns", "release", PP_TYPE_RATIO, PP_COLUMN_NO_SUM,
			     "CPU time of a contended release, in ns"},
};

struct times {
	uint64_t shared, exclusive, holds, releases;
	int64_t wait_ns, hold_ns;
};

/* The threads of a unit. */
struct unit_times {
	struct pp_occ_numbers numbers; /* serials of the threads */
	GArray *times;		       /* of struct times, by position */
};

struct lock {
	struct pp_occ_lock occ;
	struct pp_occ_queue queue;
};

struct timing {
	const struct pp_pass_context *context;
	struct pp_thread_states *states;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_objects objects;
	struct pp_occ_units *units;
	GPtrArray *times;  /* of struct unit_times *, by number of the unit */
	GArray *joined_ns; /* of int64_t, by thread serial: waits for the end of threads */
	struct pp_occ_releases releases;
	uint64_t n_lost; /* holds whose end was not recorded */
};

/* --- figures -------------------------------------------------------------------------------- */

static void unit_times_free(void *data)
{
	struct unit_times *times = data;

	pp_occ_numbers_done(&times->numbers);
	g_array_unref(times->times);
	g_free(times);
}

static struct lock *lock_of(struct pp_object *object)
{
	if (!object->data)
		object->data = g_new0(struct lock, 1);
	return object->data;
}

static void lock_free(void *data)
{
	struct lock *lock = data;

	if (lock)
		pp_occ_queue_done(&lock->queue);
	g_free(lock);
}

/* Valid until the next call. */
static struct times *times_of(struct timing *self, struct pp_object *object, uint64_t site,
			      const struct pp_thread *thread)
{
	unsigned unit = pp_occ_unit_of(self->units, &lock_of(object)->occ, object, site), position;
	struct unit_times *times;

	while (self->times->len <= unit) {
		times = g_new0(struct unit_times, 1);
		times->times = g_array_new(FALSE, TRUE, sizeof(struct times));
		g_ptr_array_add(self->times, times);
	}
	times = self->times->pdata[unit];
	position = pp_occ_numbers_get(&times->numbers, thread->serial);
	if (position == times->times->len)
		g_array_set_size(times->times, position + 1);
	return &g_array_index(times->times, struct times, position);
}

/* --- events --------------------------------------------------------------------------------- */

static void on_waits(void *data, struct pp_object *object, const struct pp_operation *operation)
{
	unsigned waiter = operation->thread->serial, n_holders = 0;
	struct timing *self = data;

	pp_occ_releases_waits(&self->releases, object, operation);
	if (!pp_object_is_lock(object))
		return;
	for (guint i = 0; i < pp_object_n_holds(object); i++) {
		const struct pp_hold *hold = &g_array_index(object->holds, struct pp_hold, i);

		n_holders +=
		    hold->thread->serial != waiter && hold->superseded_ns == PP_TIME_UNKNOWN;
	}
	pp_occ_queue_waits(&lock_of(object)->queue, waiter, n_holders);
}

static void add_join(struct timing *self, const struct pp_operation *operation)
{
	unsigned serial = operation->thread->serial;

	if (self->joined_ns->len <= serial)
		g_array_set_size(self->joined_ns, serial + 1);
	g_array_index(self->joined_ns, int64_t, serial) += operation->end_ns - operation->begin_ns;
}

static void add_wait(struct timing *self, struct pp_object *object,
		     const struct pp_operation *operation)
{
	struct times *times = times_of(self, object, operation->site, operation->thread);

	times->wait_ns += operation->end_ns - operation->begin_ns;
	times->holds += pp_occ_queue_ends(&lock_of(object)->queue, operation->thread->serial);
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct timing *self = data;
	struct times *times;

	pp_occ_releases_operation(&self->releases, object, operation);
	if (operation->op == ST_EVENT_thread_join)
		add_join(self, operation);
	if (!pp_object_is_lock(object))
		return;
	/* Not for the second call of a condition wait, for its mutex. */
	if (operation->waited && object->type == pp_sync_type(operation->op))
		add_wait(self, object, operation);
	if (!acquired)
		return;
	times = times_of(self, object, operation->site, operation->thread);
	if (pp_sync_has(operation->op, PP_SYNC_SHARED))
		times->shared++;
	else
		times->exclusive++;
	pp_occ_queue_acquired(&lock_of(object)->queue);
}

static void on_released(void *data, struct pp_object *object, const struct pp_hold *hold,
			int64_t end_ns, const struct pp_operation *operation)
{
	struct timing *self = data;
	struct times *times;

	if (!pp_object_is_lock(object))
		return;
	times = times_of(self, object, hold->site, hold->thread);
	times->hold_ns += end_ns - hold->since_ns;
	/* The release by a condition wait is part of that wait. */
	if (!operation || !pp_sync_has(operation->op, PP_SYNC_YIELDS))
		times->releases += pp_occ_releases_released(
		    &self->releases, object, hold->thread, operation ? operation->site : 0, end_ns);
}

static void on_interval(void *data, const struct pp_interval *interval)
{
	struct timing *self = pp_objects_owner(data);

	pp_occ_releases_interval(&self->releases, interval);
}

static void on_dropped(void *data, struct pp_object *object, const struct pp_thread *thread)
{
	struct timing *self = data;

	(void)thread;
	self->n_lost += pp_object_is_lock(object);
}

/* Figures are by unit, so nothing of an ended object is needed. */
static bool on_fold(void *data, struct pp_object *object, struct pp_object *group)
{
	(void)data;
	(void)group;
	g_clear_pointer(&object->data, lock_free);
	return false;
}

static void *timing_start(const struct pp_pass_context *context)
{
	struct timing *self = g_new0(struct timing, 1);

	self->context = context;
	self->units = pp_occ_units_new(context);
	self->times = g_ptr_array_new_with_free_func(unit_times_free);
	self->joined_ns = g_array_new(FALSE, TRUE, sizeof(int64_t));
	self->thread_listener = pp_objects_feed(&self->objects);
	self->thread_listener.interval = on_interval;
	self->object_listener = (struct pp_object_listener){
	    .data = self,
	    .waits = on_waits,
	    .operation = on_operation,
	    .released = on_released,
	    .dropped = on_dropped,
	    .fold = on_fold,
	    .context = context,
	};
	pp_objects_init(&self->objects, &self->object_listener, NULL);
	self->states = pp_thread_states_share(context, &self->thread_listener);
	pp_occ_releases_init(&self->releases, self->states);
	return self;
}

static void timing_event(void *state, const struct pp_event *event)
{
	struct timing *self = state;

	pp_occ_releases_event(&self->releases, event);
	pp_thread_states_event(self->states, event);
}

static void timing_free(void *state)
{
	struct timing *self = state;

	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, lock_free);
	pp_occ_units_free(self->units);
	g_ptr_array_unref(self->times);
	g_array_unref(self->joined_ns);
	pp_occ_releases_done(&self->releases);
	g_free(self);
}

/* --- operations that were only counted ------------------------------------------------------ */

static void add_counted(struct timing *self, const struct pp_counted_holds *holds)
{
	const struct pp_operation operation = {
	    .thread = holds->thread,
	    .op = (enum st_event)holds->op,
	    .object = holds->object,
	    .object_load_id = holds->load_id,
	    .site = holds->site,
	    .begin_ns = holds->first_ns,
	    .end_ns = holds->first_ns,
	};
	struct pp_object *object = pp_objects_counted(&self->objects, &operation);
	struct times *times;

	if (!pp_object_is_lock(object))
		return;
	times = times_of(self, object, holds->site, holds->thread);
	if (pp_sync_has(operation.op, PP_SYNC_SHARED))
		times->shared += holds->n;
	else
		times->exclusive += holds->n;
	if (__builtin_add_overflow(times->hold_ns, holds->total_ns, &times->hold_ns))
		times->hold_ns = INT64_MAX;
}

static void add_all_counted(struct timing *self)
{
	const GPtrArray *processes = self->context->model->processes;

	for (guint i = 0; i < processes->len; i++) {
		const struct pp_process *process = processes->pdata[i];

		for (guint k = 0; process->counted_holds && k < process->counted_holds->len; k++)
			add_counted(self, &g_array_index(process->counted_holds,
							 struct pp_counted_holds, k));
	}
}

/* --- tables --------------------------------------------------------------------------------- */

static void add_times(struct times *sum, const struct times *times)
{
	sum->shared += times->shared;
	sum->exclusive += times->exclusive;
	sum->holds += times->holds;
	sum->releases += times->releases;
	sum->wait_ns += times->wait_ns;
	sum->hold_ns += times->hold_ns;
}

/* The sums of the section's units, by thread serial: struct times *.  The caller unrefs them. */
static GHashTable *sums_of(const struct timing *self, const GArray *section)
{
	GHashTable *sums = g_hash_table_new_full(NULL, NULL, NULL, g_free);

	for (guint i = 0; i < section->len; i++) {
		const struct unit_times *unit =
		    self->times->pdata[g_array_index(section, unsigned, i)];

		for (unsigned k = 0; k < unit->numbers.n; k++) {
			void *serial = GUINT_TO_POINTER(unit->numbers.numbers[k]);
			struct times *sum = g_hash_table_lookup(sums, serial);

			if (!sum) {
				sum = g_new0(struct times, 1);
				g_hash_table_insert(sums, serial, sum);
			}
			add_times(sum, &g_array_index(unit->times, struct times, k));
		}
	}
	return sums;
}

static void put_times(struct pp_table *table, const struct pp_thread *thread,
		      const struct times *times)
{
	struct pp_cell *row = pp_named_thread_row(table, thread);

	pp_cell_set_count(&row[PP_OCC_SHARED], times->shared);
	pp_cell_set_count(&row[PP_OCC_EXCLUSIVE], times->exclusive);
	pp_cell_set_time(&row[PP_OCC_WAIT], times->wait_ns);
	pp_cell_set_time(&row[PP_OCC_IN_SECTION], times->hold_ns);
	pp_cell_set_count(&row[PP_OCC_HOLDS], times->holds);
	pp_cell_set_count(&row[PP_OCC_CONTENDED_RELEASES], times->releases);
}

static void put_section(const struct timing *self, struct pp_table *table, const GArray *section)
{
	const GPtrArray *threads = self->context->model->threads;
	g_autoptr(GHashTable) sums = sums_of(self, section);
	struct pp_cell *row = pp_table_add_row(table);
	struct pp_table *nested = pp_table_new_nested(&columns[TIMES]);

	pp_occ_set_section(row, self->units, section, self->context->namer);
	for (guint serial = 0; serial < threads->len; serial++) {
		const struct times *sum = g_hash_table_lookup(sums, GUINT_TO_POINTER(serial));

		if (sum)
			put_times(nested, threads->pdata[serial], sum);
	}
	pp_cell_set_table(&row[TIMES], nested);
}

static struct pp_table *threads_table(const struct timing *self)
{
	struct pp_table *table =
	    pp_table_new("occ_threads", "Execution times", thread_columns, PP_N_OCC_THREAD_CELLS);
	const GPtrArray *threads = self->context->model->threads;

	for (guint serial = 0; serial < threads->len; serial++) {
		const struct pp_thread *thread = threads->pdata[serial];
		int64_t ns = pp_thread_lifetime_ns(pp_thread_state(self->states, thread));

		if (serial < self->joined_ns->len)
			ns -= g_array_index(self->joined_ns, int64_t, serial);
		pp_cell_set_time(&pp_named_thread_row(table, thread)[PP_OCC_EXECUTION], MAX(ns, 0));
	}
	return table;
}

static struct pp_table *costs_table(const struct timing *self)
{
	struct pp_table *table =
	    pp_table_new("occ_costs", "Costs of contention", cost_columns, PP_N_OCC_COST_CELLS);
	double cost_ns = pp_occ_releases_cost_ns(&self->releases);
	struct pp_cell *row = pp_table_add_row(table);

	if (cost_ns > 0)
		pp_cell_set_number(&row[PP_OCC_RELEASE_COST], cost_ns);
	return table;
}

static uint64_t n_contended_releases(const struct timing *self)
{
	uint64_t n = 0;

	for (guint i = 0; i < self->times->len; i++) {
		const struct unit_times *unit = self->times->pdata[i];

		for (guint k = 0; k < unit->times->len; k++)
			n += g_array_index(unit->times, struct times, k).releases;
	}
	return n;
}

/* Notes what the figures lack. */
static void add_notes(const struct timing *self, struct pp_table *table)
{
	uint64_t n_releases = n_contended_releases(self);
	const GPtrArray *processes = self->context->model->processes;
	guint n_uncounted = 0;

	for (guint i = 0; i < processes->len; i++) {
		const struct pp_process *process = processes->pdata[i];

		n_uncounted += process->only_waits && !process->holds_timed;
	}
	if (n_uncounted)
		pp_table_note(table,
			      "acquisitions without waits and the times of their holds were not "
			      "recorded in %u processes: waits are too high, frac_cs too low "
			      "(record with --set sync.mode=all)",
			      n_uncounted);
	if (n_releases && pp_occ_releases_cost_ns(&self->releases) <= 0)
		pp_table_note(table,
			      "the CPU time of %" G_GUINT64_FORMAT
			      " releases that wake others is not known, and not counted as saved: "
			      "%s",
			      n_releases,
			      self->context->has_wakings ? "they are too few"
							 : "no wake-ups were recorded");
	if (self->n_lost)
		pp_table_note(table, "the ends of %" G_GUINT64_FORMAT " holds were not recorded",
			      self->n_lost);
}

static void timing_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct timing *self = state;
	struct pp_table *table =
	    pp_table_new("occ_timing", "Times of critical sections", columns, N_COLUMNS);
	g_autoptr(GPtrArray) sections = NULL;

	pp_thread_states_finish(self->states, end_ns);
	pp_objects_finish(&self->objects, end_ns);
	add_all_counted(self);
	sections = pp_occ_sections(self->units);
	for (guint i = 0; i < sections->len; i++)
		put_section(self, table, sections->pdata[i]);
	add_notes(self, table);
	g_ptr_array_add(tables, table);
	g_ptr_array_add(tables, threads_table(self));
	g_ptr_array_add(tables, costs_table(self));
}

const struct pp_pass pp_pass_occ_timing = {
    .name = "occ-timing",
    .kinds = PP_THREAD_STATE_KINDS,
    .start = timing_start,
    .event = timing_event,
    .finish = timing_finish,
    .free = timing_free,
};
