/* SPDX-License-Identifier: MIT */
/*
 * Waits for locks.  While a lock has waiters it is watched: each hold has a clock that runs at its
 * share of the time, by what its thread does.  A wait is charged the difference of a clock between
 * its begin and its end, so an event costs no more with a hundred waiters than with one, except at
 * the end of a hold.
 */
#include "analysis/blame/internal.h"

#include "analysis/select.h"

static struct pp_blame_instance *instance_at(const struct pp_blame_place *place, guint i)
{
	return place->holds->pdata[i];
}

static guint n_waits(const struct pp_blame_place *place)
{
	return place->waits ? place->waits->len : 0;
}

static guint n_watched(const struct pp_blame_place *place)
{
	return place->holds ? place->holds->len : 0;
}

/* --- clocks --------------------------------------------------------------------------------- */

void pp_blame_run(struct pp_blame *blame, struct pp_blame_place *place, int64_t now_ns,
		  const struct pp_thread *changing, enum pp_mode mode)
{
	int64_t past_ns, n = 0, i = 0;

	if (now_ns <= place->until_ns)
		return;
	past_ns = pp_selected_ns(blame->context, place->until_ns, now_ns);
	place->until_ns = now_ns;
	for (guint k = 0; k < n_watched(place); k++)
		n += instance_at(place, k)->is_active;
	if (n == 0) {
		place->free_ns += past_ns;
		return;
	}
	for (guint k = 0; k < n_watched(place); k++) {
		struct pp_blame_instance *hold = instance_at(place, k);
		int64_t share_ns;

		if (!hold->is_active)
			continue;
		/* The first ones have the rest of the division. */
		share_ns = past_ns / n + (i++ < past_ns % n);
		hold->clock.ns += share_ns;
		hold->clock
		    .mode_ns[hold->thread == changing ? mode
						      : pp_blame_mode(blame, hold->thread)] +=
		    share_ns;
	}
}

static struct pp_blame_figures since_mark(const struct pp_blame_wait *wait,
					  const struct pp_blame_instance *hold)
{
	struct pp_blame_figures figures = hold->clock;

	for (guint i = 0; wait->marks && i < wait->marks->len; i++) {
		const struct pp_blame_mark *mark =
		    &g_array_index(wait->marks, struct pp_blame_mark, i);

		if (mark->instance != hold)
			continue;
		figures.ns -= mark->clock.ns;
		for (unsigned mode = 0; mode < PP_N_MODES; mode++)
			figures.mode_ns[mode] -= mark->clock.mode_ns[mode];
	}
	return figures;
}

/* --- watching ------------------------------------------------------------------------------- */

static void deactivate(struct pp_blame *blame, struct pp_blame_instance *hold)
{
	if (hold->is_active)
		g_ptr_array_remove_fast(pp_blame_thread(blame, hold->thread)->held, hold->place);
	hold->is_active = false;
}

static void unwatch(struct pp_blame *blame, struct pp_blame_place *place, guint at)
{
	struct pp_blame_instance *hold = g_ptr_array_remove_index_fast(place->holds, at);

	deactivate(blame, hold);
	pp_blame_instance_unref(hold);
}

static const struct pp_hold *hold_of(const struct pp_blame_place *place,
				     const struct pp_blame_instance *instance)
{
	const struct pp_hold *hold = pp_object_hold(place->object, instance->thread);

	return hold && hold->since_ns == instance->since_ns ? hold : NULL;
}

static void give_up(struct pp_blame *blame, struct pp_blame_place *place, guint at)
{
	static const struct pp_blame_cause cause = {.kind = PP_BLAME_UNKNOWN,
						    .why = PP_BLAME_NO_RELEASE};
	struct pp_blame_instance *hold = instance_at(place, at);

	for (guint i = 0; i < n_waits(place); i++) {
		struct pp_blame_wait *wait = place->waits->pdata[i];
		struct pp_blame_figures figures = since_mark(wait, hold);

		pp_blame_charge(wait, &cause, NULL, &figures);
	}
	deactivate(blame, hold);
	pp_blame_instance_resolve(hold, &cause);
	unwatch(blame, place, at);
}

static bool is_watched(const struct pp_blame_place *place, const struct pp_hold *hold)
{
	for (guint i = 0; i < n_watched(place); i++)
		if (instance_at(place, i)->thread == hold->thread &&
		    instance_at(place, i)->since_ns == hold->since_ns)
			return true;
	return false;
}

static void watch(struct pp_blame *blame, struct pp_blame_place *place, const struct pp_hold *hold)
{
	struct pp_blame_instance *instance = pp_blame_instance_new(place, hold->thread);

	instance->since_ns = hold->since_ns;
	instance->is_active = true;
	instance->cause = (struct pp_blame_cause){
	    .kind = PP_BLAME_HOLD,
	    .call = {.op = ST_N_EVENTS},
	    .acquired = {.op = hold->op, .site = hold->site},
	};
	if (!place->holds)
		place->holds = g_ptr_array_new();
	g_ptr_array_add(place->holds, instance);
	g_ptr_array_add(pp_blame_thread(blame, hold->thread)->held, place);
}

/* Follows the changes of the object's holds, whose clocks have run up to now. */
static void follow(struct pp_blame *blame, struct pp_blame_place *place)
{
	for (guint i = n_watched(place); i-- > 0;) {
		struct pp_blame_instance *instance = instance_at(place, i);
		const struct pp_hold *hold = hold_of(place, instance);

		if (!hold)
			give_up(blame, place, i);
		else if (hold->superseded_ns != PP_TIME_UNKNOWN)
			deactivate(blame, instance);
		/* Nobody waits for it, or has waited. */
		else if (!n_waits(place) && !instance->pending)
			unwatch(blame, place, i);
	}
	for (guint i = 0; n_waits(place) && i < pp_object_n_holds(place->object); i++) {
		const struct pp_hold *hold =
		    &g_array_index(place->object->holds, struct pp_hold, i);

		if (hold->superseded_ns == PP_TIME_UNKNOWN && !is_watched(place, hold))
			watch(blame, place, hold);
	}
}

/* --- the owner at the begin of a wait ------------------------------------------------------- */

/* A release is recorded before it takes effect: did the wait begin in between? */
static bool is_former_owner(const struct pp_blame *blame, const struct pp_blame_wait *wait,
			    unsigned i)
{
	const struct pp_thread *former = wait->place->former[i];

	if (!former || former == wait->thread)
		return false;
	return wait->owner_tid
		   ? former->tid == wait->owner_tid
		   : wait->place->former_done[i] == pp_objects_n_done(&blame->objects, former);
}

static bool has_owner(const struct pp_blame *blame, const struct pp_blame_wait *wait)
{
	for (guint i = 0; i < n_watched(wait->place); i++) {
		const struct pp_blame_instance *hold = instance_at(wait->place, i);

		if (hold->is_active && (!wait->owner_tid || hold->thread->tid == wait->owner_tid))
			return true;
	}
	return is_former_owner(blame, wait, 0) || is_former_owner(blame, wait, 1);
}

void pp_blame_lock_waits(struct pp_blame *blame, struct pp_blame_wait *wait)
{
	struct pp_blame_place *place = wait->place;

	if (n_waits(place) || n_watched(place))
		pp_blame_run(blame, place, wait->begin_ns, NULL, PP_MODE_UNKNOWN);
	place->until_ns = MAX(place->until_ns, wait->begin_ns);
	if (!place->waits)
		place->waits = g_ptr_array_new();
	g_ptr_array_add(place->waits, wait);
	follow(blame, place);
	wait->free_begin_ns = wait->free_seen_ns = place->free_ns;
	for (guint i = 0; i < n_watched(place); i++) {
		struct pp_blame_instance *hold = instance_at(place, i);
		struct pp_blame_mark mark = {.instance = hold, .clock = hold->clock};

		if (!hold->clock.ns)
			continue;
		if (!wait->marks)
			wait->marks = g_array_new(FALSE, FALSE, sizeof(mark));
		hold->refs++;
		g_array_append_val(wait->marks, mark);
	}
	wait->has_owner = has_owner(blame, wait);
}

/* --- changes of the lock --------------------------------------------------------------------- */

/*
 * The thread acquires the lock while others wait for an owner that is not known: was it that one,
 * whose acquisition is recorded late?
 */
static void find_late_owner(struct pp_blame_place *place, const struct pp_operation *operation)
{
	for (guint i = 0; i < n_waits(place); i++) {
		struct pp_blame_wait *wait = place->waits->pdata[i];

		if (wait->has_owner || wait->thread == operation->thread)
			continue;
		wait->has_owner = true;
		if (wait->owner_tid ? wait->owner_tid != operation->thread->tid : operation->waited)
			wait->no_owner_ns = place->free_ns - wait->free_begin_ns;
	}
}

void pp_blame_lock_operation(struct pp_blame *blame, struct pp_blame_place *place,
			     const struct pp_operation *operation, bool acquired)
{
	if (!n_waits(place) && !n_watched(place))
		return;
	pp_blame_run(blame, place, operation->end_ns, NULL, PP_MODE_UNKNOWN);
	if (acquired)
		find_late_owner(place, operation);
	follow(blame, place);
}

/* The hold ended; its call path is known now, or else at the end of the call. */
static void charge_hold(struct pp_blame *blame, struct pp_blame_place *place, guint at,
			const struct pp_operation *operation)
{
	struct pp_blame_instance *hold = instance_at(place, at);
	bool is_later = operation && !operation->finished;

	deactivate(blame, hold);
	if (operation) {
		hold->cause.call =
		    (struct pp_blame_call){operation->op, operation->site, operation->path};
	}
	if (!is_later) {
		const struct pp_blame_cause cause = hold->cause;

		pp_blame_instance_resolve(hold, &cause);
	}
	for (guint i = 0; i < n_waits(place); i++) {
		struct pp_blame_wait *wait = place->waits->pdata[i];
		struct pp_blame_figures figures = since_mark(wait, hold);

		pp_blame_charge(wait, &hold->cause, is_later ? hold : NULL, &figures);
	}
	if (is_later) {
		hold->refs++;
		pp_blame_resolve_later(pp_blame_thread(blame, operation->thread), hold);
	}
	unwatch(blame, place, at);
}

void pp_blame_lock_released(struct pp_blame *blame, struct pp_blame_place *place,
			    const struct pp_hold *hold, int64_t end_ns,
			    const struct pp_operation *operation)
{
	if (place->former[0] && place->former[0] != hold->thread) {
		place->former[1] = place->former[0];
		place->former_done[1] = place->former_done[0];
	}
	place->former[0] = hold->thread;
	place->former_done[0] = pp_objects_n_done(&blame->objects, hold->thread);
	if (!n_watched(place))
		return;
	pp_blame_run(blame, place, operation ? MAX(operation->begin_ns, end_ns) : end_ns, NULL,
		     PP_MODE_UNKNOWN);
	for (guint i = 0; i < n_watched(place); i++) {
		const struct pp_blame_instance *instance = instance_at(place, i);

		if (instance->thread != hold->thread || instance->since_ns != hold->since_ns)
			continue;
		charge_hold(blame, place, i, operation);
		return;
	}
}

void pp_blame_lock_finish(struct pp_blame *blame, struct pp_blame_place *place)
{
	while (n_watched(place))
		give_up(blame, place, 0);
}

void pp_blame_lock_dropped(struct pp_blame *blame, struct pp_blame_place *place,
			   const struct pp_thread *thread)
{
	for (guint i = n_watched(place); i-- > 0;)
		if (instance_at(place, i)->thread == thread)
			give_up(blame, place, i);
}

/* --- the end of a wait ----------------------------------------------------------------------- */

void pp_blame_lock_leave(struct pp_blame_wait *wait)
{
	g_ptr_array_remove_fast(wait->place->waits, wait);
}

void pp_blame_lock_settle(struct pp_blame_wait *wait)
{
	struct pp_blame_place *place = wait->place;

	for (guint i = 0; i < n_watched(place); i++) {
		struct pp_blame_figures figures = since_mark(wait, instance_at(place, i));

		pp_blame_charge(wait, NULL, instance_at(place, i), &figures);
	}
	pp_blame_lock_leave(wait);
}

void pp_blame_lock_rest(struct pp_blame *blame, const struct pp_blame_wait *wait,
			const struct pp_blame_call *waiter, int64_t rest_ns, bool has_charges)
{
	int64_t unknown_ns =
	    !has_charges && !wait->has_owner ? rest_ns : MIN(wait->no_owner_ns, rest_ns);

	if (unknown_ns > 0)
		pp_blame_unknown(wait, waiter,
				 pp_hold_why(blame->context->model, &blame->lost,
					     wait->place->object, wait->owner_tid, wait->begin_ns),
				 unknown_ns);
	pp_blame_hand_over(blame, wait, waiter, rest_ns - unknown_ns, wait->runnable_ns);
}

void pp_blame_place_free(void *data)
{
	struct pp_blame_place *place = data;

	for (guint i = 0; place->holds && i < place->holds->len; i++)
		pp_blame_instance_unref(place->holds->pdata[i]);
	g_clear_pointer(&place->holds, g_ptr_array_unref);
	g_clear_pointer(&place->waits, g_ptr_array_unref);
	g_clear_pointer(&place->cells, g_hash_table_unref);
	g_clear_pointer(&place->waiters, g_hash_table_unref);
	pp_idle_object_free(place->idle);
	g_clear_pointer(&place->units, g_hash_table_unref);
	g_free(place);
}
