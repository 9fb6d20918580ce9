/* SPDX-License-Identifier: MIT */
/*
 * The cost of each synchronization object: how often it was acquired, how long threads waited for
 * it and held it, and at which call sites.
 *
 * A wait belongs to the call that waited, a hold to the call that acquired.  A condition wait
 * releases and re-acquires its mutex: this counts as one more acquisition of the mutex by the
 * condition wait; the time in between is a wait for the condition variable only.
 *
 * A wait for a lock is attributed to a hold (locks_holders.c).
 *
 * Idle waits (analysis/state/idle.h) are part of the waits, and also added up by themselves.
 *
 * A thread that spins on a try (analysis/state/try_runs.h) runs while it waits: its spins are kept
 * apart from the waits, whose sums equal those of the threads.
 */
#include "pass/locks.h"

#include <errno.h>

#include "analysis/select.h"
#include "analysis/state/select_object.h"

static struct pp_lock *lock_of(struct pp_object *object)
{
	struct pp_lock *lock = object->data;

	if (!lock) {
		lock = g_new0(struct pp_lock, 1);
		object->data = lock;
	}
	return lock;
}

static struct pp_lock_site *site_of(struct pp_lock *lock, uint64_t address, enum st_event op)
{
	const struct pp_site_key key = {.address = address, .op = op};

	return pp_site_set_get(&lock->sites, sizeof(struct pp_lock_site), &key);
}

static struct pp_lock_waits *waits_of(struct pp_lock_site *site)
{
	if (!site->waits)
		site->waits = g_new0(struct pp_lock_waits, 1);
	return site->waits;
}

/* --- waits ---------------------------------------------------------------------------------- */

static void on_waits(void *data, struct pp_object *object, const struct pp_operation *operation)
{
	struct pp_locks *self = data;

	pp_idle_waits(&self->idle, object, operation);
	if (!pp_object_is_lock(object))
		return;
	lock_of(object);
	pp_lock_wait_begins(self, object, operation);
}

static struct pp_lock_holder *holder_of(struct pp_lock_waits *waits, const struct pp_site_key *key)
{
	return pp_site_set_get(&waits->holders, sizeof(struct pp_lock_holder), key);
}

static void count_holder(struct pp_lock_waits *waits, const struct pp_site_key *key, bool counts,
			 int64_t wait_ns)
{
	struct pp_lock_holder *holder = holder_of(waits, key);

	holder->contended += counts;
	holder->wait_ns += wait_ns;
	holder->wait_max_ns = MAX(holder->wait_max_ns, wait_ns);
}

/* --- windows of the time --------------------------------------------------------------------- */

static void count_parts(const struct pp_locks *self, struct pp_lock *lock, int64_t start_ns,
			int64_t end_ns)
{
	const struct pp_selection *selection = self->context->selection;
	struct pp_windows *windows = selection ? selection->windows : NULL;

	if (!windows)
		return;
	if (!lock->parts_ns)
		lock->parts_ns = g_new0(int64_t, windows->n);
	for (unsigned i = pp_windows_after(windows, start_ns);
	     i < windows->n && windows->from_ns[i] < end_ns; i++)
		lock->parts_ns[i] += pp_window_part_ns(windows, i, start_ns, end_ns);
}

/* --- tries ---------------------------------------------------------------------------------- */

/* A spin belongs to the call site of its first try, a failed try to its own. */
static void count_tries(struct pp_locks *self, struct pp_object *object,
			const struct pp_operation *operation, bool acquired)
{
	bool counts = pp_selects_time(self->context, operation->end_ns);
	struct pp_try_run *run =
	    pp_try_runs_operation(&self->try_runs, object, operation, acquired);
	struct pp_lock_waits *waits;
	struct pp_lock *lock;
	int64_t spin_ns;

	if (run && !acquired && run->is_new && pp_object_is_lock(object))
		run->holder = pp_lock_hold_at_try(self, object, operation);
	if (!run || !pp_may_select_object(self->context, object) ||
	    !pp_selects_operation(self->context, operation))
		return;
	lock = lock_of(object);
	if (!acquired) {
		waits_of(site_of(lock, operation->site, operation->op))->tries.n_failed +=
		    counts ? 1 + operation->more_tries : 0;
		return;
	}
	spin_ns = pp_selected_ns(self->context, run->since_ns, operation->end_ns);
	if (!counts && !spin_ns)
		return;
	waits = waits_of(site_of(lock, run->site, run->op));
	waits->tries.n_spins += counts;
	waits->tries.spin_ns += spin_ns;
	waits->tries.spin_max_ns = MAX(waits->tries.spin_max_ns, spin_ns);
	count_parts(self, lock, run->since_ns, operation->end_ns);
	if (pp_object_is_lock(object)) {
		pp_lock_find_late_hold(lock, operation->thread, run->since_ns, &run->holder);
		holder_of(waits, &run->holder)->spin_ns += spin_ns;
	}
}

/* -------------------------------------------------------------------------------------------- */

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct pp_locks *self = data;
	/* The second call for a condition wait, for its mutex, which it did not wait for. */
	bool regained = object->type != pp_sync_type(operation->op);
	bool counts = pp_selects_time(self->context, operation->end_ns);
	int64_t wait_ns =
	    regained ? 0 : pp_selected_ns(self->context, operation->begin_ns, operation->end_ns);
	bool waited = operation->waited && !regained;
	struct pp_site_key holder = {0};
	struct pp_lock *lock = lock_of(object);
	struct pp_lock_site *site;
	struct pp_lock_waits *waits;

	count_tries(self, object, operation, acquired);
	pp_idle_operation(&self->idle, &lock->idle, object, operation, acquired);
	if (lock->waits && lock->waits->len)
		pp_lock_wait_operation(self, object, operation, acquired, &holder);
	if (!pp_sync_has(operation->op, PP_SYNC_BLOCKS | PP_SYNC_TRIES) || (!counts && !wait_ns) ||
	    !pp_may_select_object(self->context, object) ||
	    !pp_selects_operation(self->context, operation))
		return;
	site = site_of(lock, operation->site, operation->op);
	lock->acquired += acquired && counts;
	site->calls += counts;
	self->unfinished += !operation->finished && counts;
	if (!waited)
		return;
	if (operation->finished && operation->result == ETIMEDOUT)
		lock->timed_out += counts;
	lock->contended += counts;
	lock->wait_ns += wait_ns;
	lock->runnable_ns += MIN(operation->runnable_ns, wait_ns);
	count_parts(self, lock, operation->begin_ns, operation->end_ns);
	waits = waits_of(site);
	waits->contended += counts;
	waits->wait_ns += wait_ns;
	pp_spread_add(&waits->spread, wait_ns);
	pp_idle_add(&self->idle, lock->idle, &waits->idle, object, operation, counts, wait_ns);
	if (pp_object_is_lock(object))
		count_holder(waits, &holder, counts, wait_ns);
}

/* A hold is selected if the operation that began it is. */
static bool selects_hold(const struct pp_locks *self, const struct pp_object *object,
			 const struct pp_hold *hold)
{
	struct pp_operation operation = {
	    .thread = hold->thread,
	    .op = hold->op,
	    .site = hold->site,
	    .begin_ns = hold->since_ns - hold->wait_ns,
	    .end_ns = hold->since_ns,
	};

	return pp_may_select_object(self->context, object) &&
	       pp_selects_operation(self->context, &operation);
}

static void on_released(void *data, struct pp_object *object, const struct pp_hold *hold,
			int64_t end_ns, const struct pp_operation *operation)
{
	struct pp_locks *self = data;
	int64_t hold_ns = pp_selected_ns(self->context, hold->since_ns, end_ns);
	struct pp_lock *lock;
	struct pp_lock_site *site;

	pp_idle_released(&self->idle, object, hold, end_ns);
	if (pp_object_is_lock(object) && operation)
		pp_lock_hold_ended(self, lock_of(object), hold, end_ns);
	/* A hold of zero length counts at its time. */
	if (!hold_ns && (end_ns > hold->since_ns || !pp_selects_time(self->context, end_ns)))
		return;
	if (self->context->selection && !selects_hold(self, object, hold))
		return;
	lock = lock_of(object);
	site = site_of(lock, hold->site, hold->op);
	lock->hold_ns += hold_ns;
	site->hold_ns += hold_ns;
	pp_spread_add(&site->holds, hold_ns);
	self->held_to_end += !operation;
}

/* Adds up to INT64_MAX at most, since files may contain any value. */
static void add_ns(int64_t *sum_ns, int64_t ns)
{
	if (__builtin_add_overflow(*sum_ns, ns, sum_ns))
		*sum_ns = INT64_MAX;
}

static void add_counted(struct pp_locks *self, const struct pp_counted_holds *holds)
{
	struct pp_operation operation = {
	    .thread = holds->thread,
	    .op = (enum st_event)holds->op,
	    .object = holds->object,
	    .object_load_id = holds->load_id,
	    .site = holds->site,
	    .begin_ns = holds->first_ns,
	    .end_ns = holds->first_ns,
	};
	struct pp_object *object = pp_objects_counted(&self->objects, &operation);
	struct pp_lock_site *site;
	struct pp_lock *lock;

	if (!pp_may_select_object(self->context, object) ||
	    !pp_selects_operation(self->context, &operation))
		return;
	lock = lock_of(object);
	site = site_of(lock, operation.site, operation.op);
	lock->acquired += holds->n;
	site->calls += holds->n;
	site->n_counted += holds->n;
	site->counted_max_ns = MAX(site->counted_max_ns, holds->longest_ns);
	add_ns(&lock->hold_ns, holds->total_ns);
	add_ns(&site->hold_ns, holds->total_ns);
}

static void add_all_counted(struct pp_locks *self)
{
	const GPtrArray *processes = self->context->model->processes;

	/* Only their time is known, and that they did not wait. */
	if (pp_selects_by(self->context, PP_SELECT_TIME | PP_SELECT_MIN_WAIT))
		return;
	self->has_counted = true;
	for (guint i = 0; i < processes->len; i++) {
		const struct pp_process *process = processes->pdata[i];

		for (guint k = 0; process->counted_holds && k < process->counted_holds->len; k++)
			add_counted(self, &g_array_index(process->counted_holds,
							 struct pp_counted_holds, k));
	}
}

static void on_lost(void *data, const struct pp_thread *thread)
{
	struct pp_locks *self = pp_objects_owner(data);

	pp_objects_lost(data, thread);
	pp_lost_threads_add(&self->lost, thread);
}

/* --- blocking calls, for idle waits --------------------------------------------------------- */

static void on_io_begin(void *data, const struct pp_io *io)
{
	const struct pp_locks *self = pp_objects_owner(data);

	pp_idle_io_begin(&self->idle, io);
}

static void *locks_start(const struct pp_pass_context *context)
{
	struct pp_locks *self = g_new0(struct pp_locks, 1);

	self->context = context;
	self->thread_listener = pp_objects_feed(&self->objects);
	self->thread_listener.lost = on_lost;
	self->thread_listener.io_begin = on_io_begin;
	self->object_listener = (struct pp_object_listener){
	    .data = self,
	    .waits = on_waits,
	    .operation = on_operation,
	    .released = on_released,
	    .fold = pp_lock_fold,
	    .compare = pp_lock_compare,
	    .is_brief = pp_lock_is_brief,
	    .context = context,
	};
	pp_objects_init(&self->objects, &self->object_listener, NULL);
	pp_try_runs_init(&self->try_runs);
	pp_idle_init(&self->idle, context);
	pp_lost_threads_init(&self->lost);
	self->states = pp_thread_states_share(context, &self->thread_listener);
	return self;
}

static void locks_event(void *state, const struct pp_event *event)
{
	struct pp_locks *self = state;

	pp_thread_states_event(self->states, event);
}

static void locks_free(void *state)
{
	struct pp_locks *self = state;

	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, pp_lock_free);
	pp_try_runs_done(&self->try_runs);
	pp_idle_done(&self->idle);
	pp_lost_threads_done(&self->lost);
	g_free(self);
}

static void add_table(GPtrArray *tables, struct pp_table *table)
{
	if (table)
		g_ptr_array_add(tables, table);
}

static void locks_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct pp_locks *self = state;
	g_autoptr(GArray) used = NULL;

	pp_thread_states_finish(self->states, end_ns);
	pp_objects_finish(&self->objects, end_ns);
	add_all_counted(self);
	used = pp_locks_used(self);
	add_table(tables, pp_locks_table(self, used));
	add_table(tables, pp_lock_pairs_table(self, used));
	add_table(tables, pp_lock_tries_table(self, used));
	add_table(tables, pp_lock_errors_table(self, used));
}

const struct pp_pass pp_pass_locks = {
    .name = "locks",
    .summary = "waits and holds",
    .is_default = true,
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_ALL,
    .has_operations = true,
    .start = locks_start,
    .event = locks_event,
    .finish = locks_finish,
    .free = locks_free,
};
