/* SPDX-License-Identifier: MIT */
/*
 * Blame one step further: a wait is charged to a hold, whose thread is itself blocked on another
 * object.  That part of the charge is divided by the causes of the thread's own wait.
 *
 * The clock of the hold tells how long its thread was blocked.  Whenever the cause of the thread's
 * wait changes - another thread holds the second object, or a call was made that may have ended the
 * wait - what the clock has advanced is charged to the cause until then.  It does not matter what
 * else happened in between, so this costs nothing while no holder waits, and else no more than the
 * end of a hold: one step for each wait behind it.
 *
 * A call that may have ended the wait can be followed by another one.  Until the wait ends, the
 * time up to the last call and the time since then are therefore separate.
 */
#include "analysis/blame/internal.h"

#include <errno.h>

static struct pp_blame_behind *behind_at(const struct pp_blame_wait *wait, guint i)
{
	return &g_array_index(wait->nested, struct pp_blame_behind, i);
}

static struct pp_blame_behind *behind_new(struct pp_blame_wait *wait)
{
	if (!wait->nested) {
		wait->nested = g_array_new(FALSE, TRUE, sizeof(struct pp_blame_behind));
		g_array_set_clear_func(wait->nested, pp_blame_behind_clear);
	}
	g_array_set_size(wait->nested, wait->nested->len + 1);
	return behind_at(wait, wait->nested->len - 1);
}

static struct pp_blame_behind *behind_of(struct pp_blame_wait *wait, struct pp_blame_instance *hold)
{
	struct pp_blame_behind *behind;

	for (guint i = 0; wait->nested && i < wait->nested->len; i++)
		if (behind_at(wait, i)->hold == hold)
			return behind_at(wait, i);
	behind = behind_new(wait);
	hold->refs++;
	behind->hold = hold;
	return behind;
}

/* --- the wait of a thread to blame ------------------------------------------------------------ */

/* The wait that the thread is in; NULL: none.  One whose end was missed is not removed. */
static struct pp_blame_wait *innermost(struct pp_blame *blame, const struct pp_thread *thread)
{
	const struct pp_operation *operation = pp_thread_operation(blame->states, thread);
	const GArray *waits = pp_blame_thread(blame, thread)->waits;

	for (guint i = operation ? waits->len : 0; i-- > 0;) {
		struct pp_blame_wait *wait = g_array_index(waits, struct pp_blame_wait *, i);

		if (wait->op == operation->op && wait->begin_ns == operation->begin_ns)
			return wait;
	}
	return NULL;
}

static bool is_for_lock(const struct pp_blame_wait *wait)
{
	return pp_object_is_lock(wait->place->object);
}

static struct pp_blame_instance *before_of(struct pp_blame_wait *wait)
{
	if (!wait->before)
		wait->before = pp_blame_instance_new(wait->place, wait->thread);
	return wait->before;
}

static struct pp_blame_instance *rest_of(struct pp_blame_wait *wait)
{
	if (!wait->rest)
		wait->rest = pp_blame_instance_new(wait->place, wait->thread);
	return wait->rest;
}

/* The number of threads that hold the lock. */
static guint n_active(const struct pp_blame_place *place)
{
	return place->watch ? place->watch->n_active : 0;
}

/*
 * Adds time that the thread waited for the lock, to be shared by its holders; without one, it is of
 * the rest of `wait`.
 */
static void add_shares(GArray **parts, const struct pp_blame_wait *for_lock,
		       struct pp_blame_wait *wait, int64_t ns)
{
	struct pp_blame_place *lock = for_lock->place;
	int64_t n = for_lock->is_orphan ? 0 : n_active(lock), at = 0;

	if (!n) {
		pp_blame_part_add(parts, wait->place, NULL, rest_of(wait), ns);
		return;
	}
	for (guint i = 0; ns > 0 && i < lock->watch->holds->len; i++) {
		struct pp_blame_instance *hold = lock->watch->holds->pdata[i];

		if (hold->is_active)
			pp_blame_part_add(parts, lock, NULL, hold, ns / n + (at++ < ns % n));
	}
}

/* The time since the last call: of the holders of the mutex, or hand-over. */
static void add_since(GArray **parts, struct pp_blame_wait *wait, int64_t ns)
{
	if (wait->second)
		add_shares(parts, wait->second, wait, ns);
	else
		pp_blame_part_add(parts, wait->place, NULL, rest_of(wait), ns);
}

/* --- the waits behind it ---------------------------------------------------------------------- */

/* Takes a wait behind the hold of `wait`'s thread, which was blocked for sync_ns in all. */
typedef void take_behind(struct pp_blame_wait *wait, struct pp_blame_behind *behind,
			 int64_t sync_ns, const void *data);

/* Calls take() for the thread's own past: it may post a semaphore later. */
static void follow_past(struct pp_blame *blame, struct pp_blame_wait *wait, int64_t now_ns,
			take_behind *take, const void *data)
{
	int64_t blocked_ns;
	struct pp_blame_behind *past = pp_blame_past_now(blame, wait->thread, now_ns, &blocked_ns);

	if (!past)
		return;
	take(wait, past, blocked_ns, data);
	if (past->done_ns == blocked_ns)
		pp_blame_past_end(blame, wait->thread, now_ns);
}

/* Calls take() for each wait behind a hold of the thread that waits. */
static void each_behind(struct pp_blame *blame, struct pp_blame_wait *wait, int64_t now_ns,
			take_behind *take, const void *data)
{
	const GPtrArray *held = pp_blame_thread(blame, wait->thread)->held;

	follow_past(blame, wait, now_ns, take, data);
	for (guint i = 0; i < held->len; i++) {
		struct pp_blame_instance *hold = held->pdata[i];
		const GPtrArray *waits = hold->place->waits;

		if (!waits || !waits->len)
			continue;
		pp_blame_run(blame, hold->place, now_ns);
		for (guint k = 0; k < waits->len; k++) {
			struct pp_blame_wait *victim = waits->pdata[k];
			int64_t blocked_ns = pp_blame_blocked_ns(blame, victim, hold);

			if (blocked_ns > 0)
				take(wait, behind_of(victim, hold), blocked_ns, data);
		}
	}
}

/* All time so far is charged, although the wait may not have ended. */
static void take_all(struct pp_blame_wait *wait, struct pp_blame_behind *behind, int64_t sync_ns,
		     const void *data)
{
	(void)data;
	if (is_for_lock(wait)) {
		add_shares(&behind->parts, wait, wait, sync_ns - behind->done_ns);
	} else if (!wait->is_called) {
		pp_blame_part_add(&behind->parts, wait->place, NULL, before_of(wait),
				  sync_ns - behind->done_ns);
	} else {
		pp_blame_part_add(&behind->parts, wait->place, NULL, before_of(wait),
				  behind->called_ns - behind->done_ns);
		pp_blame_parts_move(&behind->parts, &behind->since);
		add_since(&behind->parts, wait, sync_ns - behind->seen_ns);
	}
	pp_blame_behind_set_done(behind, sync_ns);
}

/* The holders of the mutex change, for which the thread waits after a call. */
static void take_since(struct pp_blame_wait *wait, struct pp_blame_behind *behind, int64_t sync_ns,
		       const void *data)
{
	(void)data;
	add_since(&behind->since, wait, sync_ns - behind->seen_ns);
	behind->seen_ns = sync_ns;
}

static void take_called(struct pp_blame_wait *wait, struct pp_blame_behind *behind, int64_t sync_ns,
			const void *data)
{
	(void)wait;
	(void)data;
	g_clear_pointer(&behind->since, g_array_unref);
	behind->called_ns = behind->seen_ns = sync_ns;
}

struct target {
	const struct pp_blame_cause *cause;
	struct pp_blame_instance *instance;
};

static void take_target(struct pp_blame_wait *wait, struct pp_blame_behind *behind, int64_t sync_ns,
			const void *data)
{
	const struct target *target = data;

	pp_blame_part_add(&behind->parts, wait->place, target->cause, target->instance,
			  sync_ns - behind->done_ns);
	pp_blame_behind_set_done(behind, sync_ns);
}

static bool may_be_blamed(struct pp_blame *blame, const struct pp_thread *thread)
{
	const struct pp_blame_thread *of = pp_blame_thread(blame, thread);

	return of->held->len || of->past;
}

/* --- changes ---------------------------------------------------------------------------------- */

void pp_blame_nested_run(struct pp_blame *blame, struct pp_blame_place *place)
{
	for (guint i = 0; place->waits && i < place->waits->len; i++) {
		const struct pp_blame_wait *at = place->waits->pdata[i];
		struct pp_blame_wait *wait;

		if (!may_be_blamed(blame, at->thread))
			continue;
		wait = innermost(blame, at->thread);
		if (wait == at)
			each_behind(blame, wait, place->watch->until_ns, take_all, NULL);
		else if (wait && wait->second == at)
			each_behind(blame, wait, place->watch->until_ns, take_since, NULL);
	}
}

static void resolve(struct pp_blame_instance **instance, const struct pp_blame_cause *cause)
{
	if (!*instance)
		return;
	pp_blame_instance_resolve(*instance, cause);
	g_clear_pointer(instance, pp_blame_instance_unref);
}

static struct pp_blame_cause unknown(unsigned why)
{
	return (struct pp_blame_cause){.kind = PP_BLAME_UNKNOWN, .why = why};
}

static struct pp_blame_cause no_owner(const struct pp_blame *blame,
				      const struct pp_blame_wait *wait)
{
	return unknown(pp_hold_why(blame->context->model, &blame->lost, wait->place->object,
				   wait->owner_tid, wait->begin_ns));
}

void pp_blame_nested_no_owner(struct pp_blame *blame, struct pp_blame_wait *wait)
{
	const struct pp_blame_cause cause = no_owner(blame, wait);

	if (innermost(blame, wait->thread) == wait)
		each_behind(blame, wait, wait->place->watch->until_ns, take_all, NULL);
	resolve(&wait->rest, &cause);
}

void pp_blame_nested_called(struct pp_blame *blame, struct pp_blame_wait *wait, int64_t now_ns)
{
	wait->is_called = true;
	if (innermost(blame, wait->thread) == wait)
		each_behind(blame, wait, now_ns, take_called, NULL);
}

void pp_blame_nested_charge(struct pp_blame *blame, struct pp_blame_wait *wait,
			    const struct pp_blame_cause *cause, struct pp_blame_instance *instance,
			    int64_t now_ns)
{
	const struct target target = {cause, instance};
	const struct pp_blame_cause hand_over = {.kind = PP_BLAME_HANDOVER};

	if (innermost(blame, wait->thread) == wait)
		each_behind(blame, wait, now_ns, take_target, &target);
	/* Waits behind it that have ended already. */
	resolve(&wait->before, cause ? cause : &hand_over);
	wait->is_called = false;
}

void pp_blame_nested_free(struct pp_blame *blame, struct pp_blame_wait *wait, int64_t now_ns)
{
	if (may_be_blamed(blame, wait->thread))
		pp_blame_nested_charge(blame, wait, NULL, rest_of(wait), now_ns);
}

/* --- the end of the thread's wait ------------------------------------------------------------- */

void pp_blame_nested_end(struct pp_blame *blame, struct pp_blame_wait *wait,
			 const struct pp_operation *operation, bool is_ended_by_call)
{
	struct pp_blame_cause before = wait->wake, rest = {.kind = PP_BLAME_HANDOVER};

	/* Then no call has ended it. */
	if (operation->finished && operation->result == ETIMEDOUT)
		wait->is_called = false;
	if (may_be_blamed(blame, wait->thread))
		each_behind(blame, wait, operation->end_ns, take_all, NULL);
	if (!wait->before && !wait->rest)
		return;
	if (!operation->finished || wait->is_orphan)
		before = rest = unknown(PP_BLAME_NOT_ENDED);
	else if (!is_for_lock(wait) && operation->result == ETIMEDOUT)
		before = rest = unknown(PP_BLAME_TIMED_OUT);
	else if (!is_for_lock(wait) && !is_ended_by_call)
		before = rest = unknown(PP_BLAME_NO_CALL);
	else if (!is_for_lock(wait) && !wait->waker)
		before = rest;
	else if (is_for_lock(wait) && !wait->has_owner && !wait->charges && !n_active(wait->place))
		rest = no_owner(blame, wait);
	resolve(&wait->before, &before);
	resolve(&wait->rest, &rest);
}

void pp_blame_nested_missed(struct pp_blame_wait *wait)
{
	const struct pp_blame_cause cause = unknown(PP_BLAME_NOT_ENDED);

	resolve(&wait->before, &cause);
	resolve(&wait->rest, &cause);
}

/* --- the end of a wait behind it -------------------------------------------------------------- */

/* Behind holds that have ended, by that cause; NULL: none. */
static struct pp_blame_behind *behind_cause(const struct pp_blame_wait *wait,
					    const struct pp_blame_cause *cause)
{
	for (guint i = 0; wait->nested && i < wait->nested->len; i++)
		if (!behind_at(wait, i)->hold &&
		    pp_blame_cause_equal(&behind_at(wait, i)->cause, cause))
			return behind_at(wait, i);
	return NULL;
}

/* The causes of holds that have ended are known; equal ones are joined. */
static void join_known(struct pp_blame_wait *wait)
{
	for (guint i = 0; i < wait->nested->len;) {
		struct pp_blame_behind *behind = behind_at(wait, i), *same;

		if (!behind->hold || !behind->hold->is_resolved) {
			i++;
			continue;
		}
		behind->cause = behind->hold->cause;
		same = behind_cause(wait, &behind->cause);
		g_clear_pointer(&behind->hold, pp_blame_instance_unref);
		if (!same)
			continue;
		pp_blame_parts_move(&same->parts, &behind->parts);
		g_array_remove_index_fast(wait->nested, i);
	}
}

void pp_blame_nested_close(struct pp_blame *blame, struct pp_blame_wait *wait,
			   struct pp_blame_instance *hold, int64_t sync_ns)
{
	const struct pp_blame_cause lost = unknown(PP_BLAME_NOT_FOLLOWED);
	struct pp_blame_wait *of_holder = innermost(blame, hold->thread);
	struct pp_blame_behind *behind;

	if (sync_ns <= 0)
		return;
	behind = behind_of(wait, hold);
	if (of_holder)
		take_all(of_holder, behind, sync_ns, NULL);
	else
		pp_blame_part_add(&behind->parts, NULL, &lost, NULL, sync_ns - behind->done_ns);
	pp_blame_behind_set_done(behind, sync_ns);
	join_known(wait);
}

/* The parts are of the time sync_ns; what is missing was not followed. */
static void complete(GArray **parts, int64_t sync_ns)
{
	const struct pp_blame_cause lost = unknown(PP_BLAME_NOT_FOLLOWED);
	int64_t sum_ns = 0;

	for (guint i = 0; *parts && i < (*parts)->len; i++)
		sum_ns += g_array_index(*parts, struct pp_blame_part, i).ns;
	if (sum_ns > sync_ns) {
		g_clear_pointer(parts, g_array_unref);
		sum_ns = 0;
	}
	pp_blame_part_add(parts, NULL, &lost, NULL, sync_ns - sum_ns);
}

void pp_blame_nested_posted(struct pp_blame *blame, struct pp_blame_wait *wait,
			    const struct pp_blame_cause *cause, const struct pp_thread *thread,
			    int64_t from_ns, int64_t to_ns, int64_t sync_ns)
{
	struct pp_blame_behind *behind;
	GArray *parts;

	if (sync_ns <= 0)
		return;
	behind = behind_cause(wait, cause);
	if (!behind)
		behind = behind_new(wait);
	behind->cause = *cause;
	parts = pp_blame_past_parts(blame, thread, from_ns, to_ns);
	complete(&parts, sync_ns);
	pp_blame_parts_move(&behind->parts, &parts);
}

void pp_blame_nested_settle(struct pp_blame_wait *wait)
{
	for (guint i = 0; wait->nested && i < wait->nested->len; i++) {
		struct pp_blame_behind *behind = behind_at(wait, i);

		if (!behind->hold)
			pp_blame_nested_add(wait->place, &behind->cause, &behind->parts);
		else if (behind->hold->is_resolved)
			pp_blame_nested_add(wait->place, &behind->hold->cause, &behind->parts);
		else
			pp_blame_parts_move(&behind->hold->nested, &behind->parts);
	}
	g_clear_pointer(&wait->nested, g_array_unref);
}
