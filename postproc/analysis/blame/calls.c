/* SPDX-License-Identifier: MIT */
/*
 * Waits that another thread's call ends: conditions, semaphores, barriers, joins, initializations.
 *
 * A signal may wake any of the waiters.  Without wake-ups of the kernel, the last one before the
 * end of a wait counts; with them, the one that its waker made.
 */
#include "analysis/blame/internal.h"

#include <errno.h>

static guint n_waits(const struct pp_blame_place *place)
{
	return place->waits ? place->waits->len : 0;
}

/* Charges the thread's time from the part that is charged already. */
static void charge_thread(struct pp_blame *blame, struct pp_blame_wait *wait,
			  const struct pp_thread *thread, const struct pp_blame_cause *cause,
			  struct pp_blame_instance *instance, int64_t from_ns, int64_t to_ns)
{
	struct pp_blame_figures figures;

	from_ns = MAX(from_ns, wait->covered_ns);
	if (to_ns <= from_ns)
		return;
	pp_blame_activity(blame, thread, from_ns, to_ns, &figures);
	pp_blame_charge(wait, cause, instance, &figures);
	if (cause->kind == PP_BLAME_HOLD)
		pp_blame_nested_posted(blame, wait, cause, thread, from_ns, to_ns,
				       figures.mode_ns[PP_MODE_BLOCKED_SYNC]);
	wait->covered_ns = to_ns;
}

/* --- semaphores ----------------------------------------------------------------------------- */

static void take_unit(struct pp_blame *blame, struct pp_blame_place *place,
		      const struct pp_operation *operation)
{
	struct pp_blame_unit *unit;

	if (!place->units)
		place->units = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	for (guint i = 0; !g_hash_table_size(place->units) && i < n_waits(place); i++)
		pp_blame_nested_free(blame, place->waits->pdata[i], operation->end_ns);
	unit = g_hash_table_lookup(place->units, operation->thread);
	if (!unit) {
		unit = g_new0(struct pp_blame_unit, 1);
		g_hash_table_insert(place->units, (void *)operation->thread, unit);
		pp_blame_past_begin(blame, operation->thread, operation->end_ns);
	}
	unit->n++;
	unit->since_ns = operation->end_ns;
	unit->acquired = (struct pp_blame_call){operation->op, operation->site, NULL};
}

/* A thread that posts what it had acquired held all waiters up. */
static bool post_unit(struct pp_blame *blame, struct pp_blame_place *place,
		      const struct pp_operation *operation)
{
	struct pp_blame_unit *unit =
	    place->units ? g_hash_table_lookup(place->units, operation->thread) : NULL;
	struct pp_blame_cause cause = pp_blame_cause_of(operation);

	if (!unit)
		return false;
	cause.kind = PP_BLAME_HOLD;
	cause.acquired = unit->acquired;
	for (guint i = 0; i < n_waits(place); i++) {
		struct pp_blame_wait *wait = place->waits->pdata[i];

		wait->is_posted = true;
		pp_blame_nested_charge(blame, wait, &cause, NULL, operation->end_ns);
		charge_thread(blame, wait, operation->thread, &cause, NULL, unit->since_ns,
			      operation->end_ns);
	}
	pp_blame_past_posted(blame, operation->thread);
	if (--unit->n == 0)
		g_hash_table_remove(place->units, operation->thread);
	return true;
}

static bool arrives(enum st_event op)
{
	return pp_sync_type(op) == GM_SYNC_TYPE_barrier && op != ST_EVENT_barrier_tasks &&
	       pp_sync_has(op, PP_SYNC_BLOCKS);
}

/* --- calls that end waits --------------------------------------------------------------------- */

/* The wait for the mutex begins, unless the waiter is woken by another call. */
static void begin_second(struct pp_blame *blame, struct pp_blame_wait *wait,
			 struct pp_blame_place *mutex)
{
	struct pp_blame_wait *second = wait->second;

	if (second && !second->is_orphan)
		pp_blame_wait_leave(second);
	g_clear_pointer(&wait->second, pp_blame_wait_free);
	wait->second = pp_blame_wait_new(mutex, wait->thread, wait->op, wait->site, wait->woken_ns);
	pp_blame_lock_waits(blame, wait->second);
	pp_blame_lock_owned(wait->second);
}

static void wake(struct pp_blame *blame, struct pp_blame_place *place,
		 const struct pp_operation *operation)
{
	for (guint i = 0; i < n_waits(place); i++) {
		struct pp_blame_wait *wait = place->waits->pdata[i];
		struct pp_object *mutex;

		if (wait->is_woken || wait->thread == operation->thread)
			continue;
		pp_blame_nested_called(blame, wait, operation->end_ns);
		wait->wake = pp_blame_cause_of(operation);
		wait->waker = operation->thread;
		wait->woken_ns = operation->end_ns;
		mutex = wait->mutex
			    ? pp_objects_at(&blame->objects, place->object->process, wait->mutex)
			    : NULL;
		if (mutex && mutex->type == GM_SYNC_TYPE_mutex)
			begin_second(blame, wait, pp_blame_place_of(mutex));
	}
}

void pp_blame_call_made(struct pp_blame *blame, struct pp_blame_place *place,
			const struct pp_operation *operation, bool acquired)
{
	bool is_post = operation->op == ST_EVENT_sem_post;

	if (arrives(operation->op)) {
		if (!operation->waited && acquired)
			pp_blame_barrier_passed(blame, place, operation);
		return;
	}
	if (place->object->type == GM_SYNC_TYPE_sem && acquired)
		take_unit(blame, place, operation);
	if (!operation->finished)
		return;
	if (is_post && operation->result == 0 && post_unit(blame, place, operation))
		return;
	if (pp_sync_has(operation->op, PP_SYNC_PASSES)
		? !operation->waited
		: pp_sync_has(operation->op, PP_SYNC_WAKES) && operation->result == 0)
		wake(blame, place, operation);
}

void pp_blame_call_exit(struct pp_blame *blame, struct pp_blame_place *place,
			const struct pp_operation *operation)
{
	struct pp_blame_thread *of = pp_blame_thread(blame, operation->thread);

	of->has_exited = true;
	of->exit_ns = operation->end_ns;
	of->exit = pp_blame_cause_of(operation);
	for (guint i = 0; place && i < n_waits(place); i++)
		pp_blame_nested_called(blame, place->waits->pdata[i], operation->end_ns);
}

void pp_blame_call_waits(struct pp_blame *blame, struct pp_blame_wait *wait,
			 const struct pp_operation *operation)
{
	if (arrives(operation->op))
		pp_blame_barrier_waits(blame, wait, operation);
	pp_blame_wait_enter(wait);
	wait->covered_ns = wait->begin_ns;
	wait->mutex = pp_sync_has(operation->op, PP_SYNC_YIELDS) ? operation->value : 0;
}

void pp_blame_call_waking(struct pp_blame *blame, const struct pp_event *event)
{
	const struct pp_thread *waker = event->waking.by_interrupt ? NULL : event->waking.waker;
	const GArray *waits;

	if (!event->thread || !waker)
		return;
	waits = pp_blame_thread(blame, event->thread)->waits;
	if (waits->len) {
		struct pp_blame_wait *wait =
		    g_array_index(waits, struct pp_blame_wait *, waits->len - 1);

		/* After a signal, the wake-up may come from the unlock of the mutex. */
		wait->is_woken |= wait->waker == waker || wait->second;
	}
}

/* --- the end of a wait ------------------------------------------------------------------------ */

/* A join: the end of the joined thread. */
static void find_end_of_thread(struct pp_blame *blame, struct pp_blame_wait *wait,
			       const struct pp_operation *operation)
{
	const struct pp_object *object = wait->place->object;
	const struct pp_thread *thread =
	    object->subject ? object->subject
	    : operation->holder
		? pp_model_thread_at(blame->context->model, operation->holder, operation->begin_ns)
		: NULL;
	const struct pp_blame_thread *of = thread ? pp_blame_thread(blame, thread) : NULL;

	if (operation->op != ST_EVENT_thread_join || !of)
		return;
	if (of->has_exited) {
		wait->woken_ns = of->exit_ns;
		wait->wake = of->exit;
	} else if (thread->end_ns != PP_TIME_UNKNOWN) {
		wait->woken_ns = thread->end_ns;
		wait->wake = (struct pp_blame_cause){.kind = PP_BLAME_CALL,
						     .call = {.op = ST_N_EVENTS},
						     .acquired = {.op = ST_N_EVENTS}};
	} else {
		return;
	}
	wait->waker = thread;
}

/* True if a call that may have ended the wait is known. */
static bool is_ended_by_call(const struct pp_blame_wait *wait)
{
	return arrives(wait->op) ? pp_blame_is_passed(wait) : wait->waker || wait->is_posted;
}

void pp_blame_call_ends(struct pp_blame *blame, struct pp_blame_wait *wait,
			const struct pp_operation *operation)
{
	pp_blame_barrier_ends(wait, operation->path);
	if (operation->finished && !wait->is_orphan)
		find_end_of_thread(blame, wait, operation);
	pp_blame_nested_end(blame, wait, operation, is_ended_by_call(wait));
}

static void charge_wake(struct pp_blame *blame, struct pp_blame_wait *wait,
			const struct pp_operation *operation)
{
	if (wait->waker)
		charge_thread(blame, wait, wait->waker, &wait->wake, NULL, wait->begin_ns,
			      MIN(wait->woken_ns, operation->end_ns));
}

/* The mutex after a signal.  Returns the time that is charged to its holders. */
static int64_t settle_second(struct pp_blame *blame, struct pp_blame_wait *second,
			     const struct pp_operation *operation,
			     const struct pp_blame_call *waiter)
{
	if (second->is_orphan)
		return 0;
	if (operation->result == ETIMEDOUT) {
		pp_blame_wait_leave(second);
		return 0;
	}
	pp_blame_run(blame, second->place, operation->end_ns);
	pp_blame_lock_settle(blame, second);
	pp_blame_nested_settle(second);
	return pp_blame_settle_charges(second, waiter);
}

void pp_blame_call_settle(struct pp_blame *blame, struct pp_blame_wait *wait,
			  const struct pp_operation *operation, const struct pp_blame_call *waiter,
			  int64_t wait_ns)
{
	bool timed_out = operation->result == ETIMEDOUT, is_known;
	struct pp_blame_figures rest;
	int64_t rest_ns;

	if (!timed_out)
		charge_wake(blame, wait, operation);
	is_known = is_ended_by_call(wait);
	pp_blame_nested_settle(wait);
	rest_ns = wait_ns - pp_blame_settle_charges(wait, waiter) - pp_blame_barrier_settle(wait);
	if (wait->second)
		rest_ns -= settle_second(blame, wait->second, operation, waiter);
	if (!is_known || timed_out) {
		pp_blame_unknown(wait, waiter, timed_out ? PP_BLAME_TIMED_OUT : PP_BLAME_NO_CALL,
				 rest_ns);
		return;
	}
	pp_blame_activity(blame, wait->thread, wait->covered_ns,
			  MAX(operation->end_ns, wait->covered_ns), &rest);
	pp_blame_hand_over(blame, wait, waiter, rest_ns, rest.mode_ns[PP_MODE_RUNNABLE]);
}
