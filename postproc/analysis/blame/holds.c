/* SPDX-License-Identifier: MIT */
/*
 * Waits for locks.  While a lock has waiters it is watched: each hold has a clock (clocks.c).  A
 * wait is charged what the clock advanced since its begin, so an event costs no more with a hundred
 * waiters or holds than with one.  The end of a hold costs a step for each waiter, and the end of a
 * wait one for each hold.
 */
#include "analysis/blame/internal.h"

#include "analysis/select.h"

/* So many holds of a lock are searched one by one. */
#define FEW_HOLDS 8

static guint n_waits(const struct pp_blame_place *place)
{
	return place->waits ? place->waits->len : 0;
}

static guint n_watched(const struct pp_blame_place *place)
{
	return place->watch ? place->watch->holds->len : 0;
}

static struct pp_blame_instance *instance_at(const struct pp_blame_place *place, guint i)
{
	return place->watch->holds->pdata[i];
}

/* --- the holds of a lock -------------------------------------------------------------------- */

static struct pp_blame_watch *watch_of(struct pp_blame_place *place)
{
	if (!place->watch) {
		place->watch = g_new0(struct pp_blame_watch, 1);
		place->watch->holds = g_ptr_array_new();
		place->watch->until_ns = INT64_MIN;
	}
	return place->watch;
}

/* The thread's hold; NULL: it has none, or it is not watched. */
static struct pp_blame_instance *instance_of(const struct pp_blame_place *place,
					     const struct pp_thread *thread)
{
	if (place->watch && place->watch->by_thread)
		return g_hash_table_lookup(place->watch->by_thread, thread);
	for (guint i = 0; i < n_watched(place); i++)
		if (instance_at(place, i)->thread == thread)
			return instance_at(place, i);
	return NULL;
}

static void list(struct pp_blame_place *place, struct pp_blame_instance *hold)
{
	struct pp_blame_watch *watch = place->watch;

	hold->at = watch->holds->len;
	g_ptr_array_add(watch->holds, hold);
	if (watch->by_thread) {
		g_hash_table_insert(watch->by_thread, (void *)hold->thread, hold);
	} else if (watch->holds->len > FEW_HOLDS) {
		watch->by_thread = g_hash_table_new(NULL, NULL);
		for (guint i = 0; i < watch->holds->len; i++)
			g_hash_table_insert(watch->by_thread, (void *)instance_at(place, i)->thread,
					    instance_at(place, i));
	}
}

static void unlist(struct pp_blame_instance *hold)
{
	struct pp_blame_watch *watch = hold->place->watch;

	g_ptr_array_remove_index_fast(watch->holds, hold->at);
	if (hold->at < watch->holds->len)
		instance_at(hold->place, hold->at)->at = hold->at;
	if (watch->by_thread)
		g_hash_table_remove(watch->by_thread, hold->thread);
	if (!watch->holds->len)
		g_clear_pointer(&watch->by_thread, g_hash_table_unref);
}

/* --- watching ------------------------------------------------------------------------------- */

static void deactivate(struct pp_blame *blame, struct pp_blame_instance *hold)
{
	if (!hold->is_active)
		return;
	pp_blame_nested_run(blame, hold->place);
	pp_blame_take_over(blame, hold);
	g_ptr_array_remove_fast(pp_blame_thread(blame, hold->thread)->held, hold);
	hold->is_active = false;
	hold->place->watch->n_active--;
	blame->n_held--;
}

static void unwatch(struct pp_blame *blame, struct pp_blame_instance *hold)
{
	deactivate(blame, hold);
	unlist(hold);
	pp_blame_instance_unref(hold);
}

static void give_up(struct pp_blame *blame, struct pp_blame_instance *hold)
{
	static const struct pp_blame_cause cause = {.kind = PP_BLAME_UNKNOWN,
						    .why = PP_BLAME_NO_RELEASE};
	const struct pp_blame_place *place = hold->place;

	for (guint i = 0; i < n_waits(place); i++) {
		struct pp_blame_wait *wait = place->waits->pdata[i];
		struct pp_blame_figures figures = pp_blame_share(blame, wait, hold);

		pp_blame_charge(wait, &cause, NULL, &figures);
	}
	deactivate(blame, hold);
	pp_blame_instance_resolve(hold, &cause);
	unwatch(blame, hold);
}

static void watch(struct pp_blame *blame, struct pp_blame_place *place, const struct pp_hold *hold)
{
	struct pp_blame_instance *instance = pp_blame_instance_new(place, hold->thread);

	pp_blame_nested_run(blame, place);
	instance->since_ns = hold->since_ns;
	instance->since = instance->seen = place->watch->clock;
	instance->n_begun = place->watch->n_begun;
	instance->is_active = true;
	instance->cause = (struct pp_blame_cause){
	    .kind = PP_BLAME_HOLD,
	    .call = {.op = ST_N_EVENTS},
	    .acquired = {.op = hold->op, .site = hold->site},
	};
	list(place, instance);
	place->watch->n_active++;
	blame->n_held++;
	g_ptr_array_add(pp_blame_thread(blame, hold->thread)->held, instance);
}

/* Nobody waits for it, or has waited; nor behind a thread that did. */
static bool may_rest(const struct pp_blame_instance *hold)
{
	return !n_waits(hold->place) && !hold->pending && !hold->cells && hold->refs == 1;
}

/* Follows a change of the hold, whose clock has run up to now. */
static void follow_instance(struct pp_blame *blame, struct pp_blame_instance *instance)
{
	const struct pp_hold *hold = pp_object_hold(instance->place->object, instance->thread);

	if (!hold || hold->since_ns != instance->since_ns)
		give_up(blame, instance);
	else if (hold->superseded_ns != PP_TIME_UNKNOWN)
		deactivate(blame, instance);
	else if (may_rest(instance))
		unwatch(blame, instance);
}

static void follow_hold(struct pp_blame *blame, struct pp_blame_place *place,
			const struct pp_hold *hold)
{
	if (n_waits(place) && hold && hold->superseded_ns == PP_TIME_UNKNOWN &&
	    !instance_of(place, hold->thread))
		watch(blame, place, hold);
}

static void follow_all(struct pp_blame *blame, struct pp_blame_place *place)
{
	const struct pp_object *object = place->object;

	for (guint i = n_watched(place); i-- > 0;)
		follow_instance(blame, instance_at(place, i));
	for (guint i = 0; i < pp_object_n_holds(object); i++)
		follow_hold(blame, place, &g_array_index(object->holds, struct pp_hold, i));
	place->watch->n_superseded = object->n_superseded;
	place->watch->may_rest = false;
}

/* Follows what an operation of the thread has changed. */
static void follow(struct pp_blame *blame, struct pp_blame_place *place,
		   const struct pp_thread *thread)
{
	struct pp_blame_instance *instance = instance_of(place, thread);

	if (place->watch->may_rest || place->watch->n_superseded != place->object->n_superseded) {
		follow_all(blame, place);
		return;
	}
	if (instance)
		follow_instance(blame, instance);
	follow_hold(blame, place, pp_object_hold(place->object, thread));
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
	if (wait->place->watch->n_active && !wait->owner_tid)
		return true;
	for (guint i = 0; wait->owner_tid && i < n_watched(wait->place); i++) {
		const struct pp_blame_instance *hold = instance_at(wait->place, i);

		if (hold->is_active && hold->thread->tid == wait->owner_tid)
			return true;
	}
	return is_former_owner(blame, wait, 0) || is_former_owner(blame, wait, 1);
}

void pp_blame_lock_waits(struct pp_blame *blame, struct pp_blame_wait *wait)
{
	struct pp_blame_place *place = wait->place;
	struct pp_blame_watch *of = watch_of(place);

	if (n_waits(place) || n_watched(place))
		pp_blame_run(blame, place, wait->begin_ns);
	of->until_ns = MAX(of->until_ns, wait->begin_ns);
	pp_blame_wait_enter(wait);
	of->n_begun++;
	/* Those that were not followed, since nobody waited. */
	if (of->n_active != place->object->n_current)
		follow_all(blame, place);
	wait->begin = of->clock;
	wait->fraction = UINT32_C(1) << 31;
	wait->free_begin_ns = wait->free_seen_ns = of->free_ns;
	wait->has_owner = has_owner(blame, wait);
	of->n_ownerless += !wait->has_owner;
}

void pp_blame_lock_owned(struct pp_blame_wait *wait)
{
	wait->place->watch->n_ownerless -= !wait->has_owner;
	wait->has_owner = true;
}

/* --- changes of the lock --------------------------------------------------------------------- */

/*
 * The thread acquires the lock while others wait for an owner that is not known: was it that one,
 * whose acquisition is recorded late?
 */
static void find_late_owner(struct pp_blame *blame, struct pp_blame_place *place,
			    const struct pp_operation *operation)
{
	for (guint i = 0; place->watch->n_ownerless && i < n_waits(place); i++) {
		struct pp_blame_wait *wait = place->waits->pdata[i];

		if (wait->has_owner || wait->thread == operation->thread)
			continue;
		pp_blame_lock_owned(wait);
		if (wait->owner_tid ? wait->owner_tid != operation->thread->tid
				    : operation->waited) {
			wait->no_owner_ns = place->watch->free_ns - wait->free_begin_ns;
			pp_blame_nested_no_owner(blame, wait);
		}
	}
}

void pp_blame_lock_operation(struct pp_blame *blame, struct pp_blame_place *place,
			     const struct pp_operation *operation, bool acquired)
{
	if (!n_waits(place) && !n_watched(place))
		return;
	pp_blame_run(blame, place, operation->end_ns);
	if (acquired)
		find_late_owner(blame, place, operation);
	follow(blame, place, operation->thread);
}

/* The hold ended; its call path is known now, or else at the end of the call. */
static void charge_hold(struct pp_blame *blame, struct pp_blame_instance *hold,
			const struct pp_operation *operation)
{
	const struct pp_blame_place *place = hold->place;
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
		struct pp_blame_figures figures = pp_blame_share(blame, wait, hold);

		pp_blame_charge(wait, &hold->cause, is_later ? hold : NULL, &figures);
		pp_blame_nested_close(blame, wait, hold, figures.mode_ns[PP_MODE_BLOCKED_SYNC]);
	}
	if (is_later) {
		hold->refs++;
		pp_blame_resolve_later(pp_blame_thread(blame, operation->thread), hold);
	}
	unwatch(blame, hold);
}

void pp_blame_lock_released(struct pp_blame *blame, struct pp_blame_place *place,
			    const struct pp_hold *hold, int64_t end_ns,
			    const struct pp_operation *operation)
{
	struct pp_blame_instance *instance = instance_of(place, hold->thread);

	if (place->former[0] && place->former[0] != hold->thread) {
		place->former[1] = place->former[0];
		place->former_done[1] = place->former_done[0];
	}
	place->former[0] = hold->thread;
	place->former_done[0] = pp_objects_n_done(&blame->objects, hold->thread);
	if (!n_watched(place))
		return;
	if (!n_watched(place))
		return;
	pp_blame_run(blame, place, operation ? MAX(operation->begin_ns, end_ns) : end_ns);
	if (instance && instance->since_ns == hold->since_ns)
		charge_hold(blame, instance, operation);
}

void pp_blame_lock_finish(struct pp_blame *blame, struct pp_blame_place *place)
{
	while (n_watched(place))
		give_up(blame, instance_at(place, 0));
}

void pp_blame_lock_dropped(struct pp_blame *blame, struct pp_blame_place *place,
			   const struct pp_thread *thread)
{
	struct pp_blame_instance *instance = instance_of(place, thread);

	if (instance)
		give_up(blame, instance);
}

/* --- the end of a wait ----------------------------------------------------------------------- */

void pp_blame_lock_settle(struct pp_blame *blame, struct pp_blame_wait *wait)
{
	struct pp_blame_place *place = wait->place;

	for (guint i = 0; i < n_watched(place); i++) {
		struct pp_blame_instance *hold = instance_at(place, i);
		struct pp_blame_figures figures = pp_blame_share(blame, wait, hold);

		pp_blame_charge(wait, NULL, hold, &figures);
		pp_blame_nested_close(blame, wait, hold, figures.mode_ns[PP_MODE_BLOCKED_SYNC]);
	}
	pp_blame_wait_leave(wait);
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

	pp_blame_barrier_finish(place);
	for (guint i = 0; i < n_watched(place); i++)
		pp_blame_instance_unref(instance_at(place, i));
	if (place->watch) {
		g_ptr_array_unref(place->watch->holds);
		g_clear_pointer(&place->watch->by_thread, g_hash_table_unref);
		g_free(place->watch);
	}
	g_clear_pointer(&place->waits, g_ptr_array_unref);
	pp_blame_nested_place_free(place);
	g_clear_pointer(&place->cells, g_hash_table_unref);
	g_clear_pointer(&place->waiters, g_hash_table_unref);
	pp_idle_object_free(place->idle);
	g_clear_pointer(&place->units, g_hash_table_unref);
	g_free(place);
}
