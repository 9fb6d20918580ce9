/* SPDX-License-Identifier: MIT */
/* See blame.h.  Follows the threads and objects, and settles each wait at its end. */
#include "analysis/blame/internal.h"

#include "analysis/select.h"
#include "analysis/state/select_object.h"

/* --- waits ---------------------------------------------------------------------------------- */

static void on_waits(void *data, struct pp_object *object, const struct pp_operation *operation)
{
	struct pp_blame *blame = data;
	struct pp_blame_thread *of = pp_blame_thread(blame, operation->thread);
	struct pp_blame_wait *wait =
	    pp_blame_wait_new(pp_blame_place_of(object), operation->thread, operation->op,
			      operation->site, operation->begin_ns);

	pp_idle_waits(&blame->idle, object, operation);
	pp_blame_past_waits(blame, operation->thread, operation->begin_ns);
	wait->owner_tid = operation->holder;
	g_array_append_val(of->waits, wait);
	if (pp_object_is_lock(object))
		pp_blame_lock_waits(blame, wait);
	else
		pp_blame_call_waits(blame, wait, operation);
}

/* The thread's wait in that operation; NULL: none.  Waits inside it have been given up. */
static struct pp_blame_wait *take_wait(struct pp_blame_thread *of, const struct pp_object *object,
				       enum st_event op)
{
	for (guint i = of->waits->len; i-- > 0;) {
		struct pp_blame_wait *wait = g_array_index(of->waits, struct pp_blame_wait *, i);

		if (wait->op != op || !(wait->is_orphan || wait->place->object == object))
			continue;
		g_array_remove_index(of->waits, i);
		return wait;
	}
	return NULL;
}

static void leave(struct pp_blame_wait *wait)
{
	pp_blame_barrier_leave(wait);
	if (!wait->is_orphan)
		pp_blame_wait_leave(wait);
	if (wait->second && !wait->second->is_orphan)
		pp_blame_wait_leave(wait->second);
}

/* Charges a wait that is selected, with wait_ns of selected time. */
static void charge(struct pp_blame *blame, struct pp_blame_wait *wait,
		   const struct pp_operation *operation, int64_t wait_ns)
{
	const struct pp_blame_call waiter = {operation->op, operation->site, operation->path};
	int64_t charged_ns;

	if (!operation->finished || wait->is_orphan) {
		pp_blame_unknown(wait, &waiter, PP_BLAME_NOT_ENDED, wait_ns);
		leave(wait);
		return;
	}
	if (!pp_object_is_lock(wait->place->object)) {
		pp_blame_call_settle(blame, wait, operation, &waiter, wait_ns);
		pp_blame_wait_leave(wait);
		pp_blame_barrier_leave(wait);
		return;
	}
	pp_blame_run(blame, wait->place, operation->end_ns);
	pp_blame_lock_settle(blame, wait);
	pp_blame_nested_settle(wait);
	charged_ns = pp_blame_settle_charges(wait, &waiter);
	pp_blame_lock_rest(blame, wait, &waiter, wait_ns - charged_ns, wait->charges);
}

static void settle(struct pp_blame *blame, struct pp_object *object,
		   const struct pp_operation *operation)
{
	bool counts = pp_selects_time(blame->context, operation->end_ns);
	int64_t wait_ns = pp_selected_ns(blame->context, operation->begin_ns, operation->end_ns);
	struct pp_blame_wait *wait =
	    take_wait(pp_blame_thread(blame, operation->thread), object, operation->op);
	bool selected = (counts || wait_ns) && pp_may_select_object(blame->context, object) &&
			pp_selects_operation(blame->context, operation);

	if (!wait && selected) {
		const struct pp_blame_call waiter = {operation->op, operation->site,
						     operation->path};
		struct pp_blame_wait none = {.place = pp_blame_place_of(object), .counts = counts};

		pp_blame_unknown(&none, &waiter, PP_BLAME_NO_BEGIN, wait_ns);
	}
	if (!wait)
		return;
	if (pp_object_is_lock(wait->place->object))
		pp_blame_nested_end(blame, wait, operation, true);
	else
		pp_blame_call_ends(blame, wait, operation);
	wait->counts = counts;
	if (wait->second)
		wait->second->counts = counts;
	if (selected) {
		charge(blame, wait, operation, wait_ns);
		pp_blame_idle_add(blame, pp_blame_place_of(object), operation, counts, wait_ns);
	} else {
		leave(wait);
	}
	g_clear_pointer(&wait->second, pp_blame_wait_free);
	pp_blame_wait_free(wait);
}

/* --- events --------------------------------------------------------------------------------- */

/* The other objects have no idle waits, and mostly no waits at all. */
static bool may_be_idle(const struct pp_object *object)
{
	return object->type == GM_SYNC_TYPE_cond || object->type == GM_SYNC_TYPE_sem ||
	       object->type == GM_SYNC_TYPE_thread;
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct pp_blame *blame = data;
	/* The second call for a condition wait, for its mutex, which it did not wait for. */
	bool regained = object->type != pp_sync_type(operation->op);

	if (operation->op == ST_EVENT_thread_exit)
		pp_blame_call_exit(blame, object->data, operation);
	if (may_be_idle(object))
		pp_idle_operation(&blame->idle, &pp_blame_place_of(object)->idle, object, operation,
				  acquired);
	if (operation->waited && !regained) {
		settle(blame, object, operation);
		pp_blame_resolve(pp_blame_thread(blame, operation->thread), operation->path);
	}
	if (!object->data && !(object->type == GM_SYNC_TYPE_sem && acquired))
		return;
	if (pp_object_is_lock(object))
		pp_blame_lock_operation(blame, object->data, operation, acquired);
	else
		pp_blame_call_made(blame, pp_blame_place_of(object), operation, acquired);
}

static void on_released(void *data, struct pp_object *object, const struct pp_hold *hold,
			int64_t end_ns, const struct pp_operation *operation)
{
	struct pp_blame *blame = data;

	pp_idle_released(&blame->idle, object, hold, end_ns);
	pp_blame_lock_released(blame, pp_blame_place_of(object), hold, end_ns, operation);
}

static void on_dropped(void *data, struct pp_object *object, const struct pp_thread *thread)
{
	if (object->data)
		pp_blame_lock_dropped(data, object->data, thread);
}

/* The time of the wait in which nobody held the lock, if the thread was ready. */
static void count_runnable(struct pp_blame *blame, struct pp_blame_wait *wait,
			   const struct pp_interval *interval)
{
	struct pp_blame_place *place = wait->place;

	if (wait->is_orphan || !pp_object_is_lock(place->object))
		return;
	pp_blame_run(blame, place, interval->end_ns);
	if (interval->mode == PP_MODE_RUNNABLE)
		wait->runnable_ns += place->watch->free_ns - wait->free_seen_ns;
	wait->free_seen_ns = place->watch->free_ns;
}

static void on_interval(void *data, const struct pp_interval *interval)
{
	struct pp_blame *blame = pp_objects_owner(data);
	struct pp_blame_thread *of = pp_blame_thread(blame, interval->thread);

	for (guint i = 0; i < of->held->len; i++)
		pp_blame_thread_ran(blame, of->held->pdata[i], interval);
	for (guint i = 0; i < of->waits->len; i++)
		count_runnable(blame, g_array_index(of->waits, struct pp_blame_wait *, i),
			       interval);
	if (interval->mode == PP_MODE_BLOCKED_SYNC)
		of->blocked_ns +=
		    pp_selected_ns(blame->context, interval->start_ns, interval->end_ns);
	pp_blame_remember(of, interval);
}

static void on_lost(void *data, const struct pp_thread *thread)
{
	struct pp_blame *blame = pp_objects_owner(data);

	pp_objects_lost(data, thread);
	pp_lost_threads_add(&blame->lost, thread);
}

static void on_waking(void *data, const struct pp_event *event)
{
	pp_blame_call_waking(pp_objects_owner(data), event);
}

/* --- objects that no longer exist ------------------------------------------------------------- */

static void orphan(struct pp_blame_place *place, struct pp_blame_place *to)
{
	for (guint i = 0; place->waits && i < place->waits->len; i++) {
		struct pp_blame_wait *wait = place->waits->pdata[i];

		wait->is_orphan = true;
		wait->place = to;
		wait->round = NULL;
	}
}

static void move_unresolved(struct pp_blame *blame, struct pp_blame_place *place,
			    struct pp_blame_place *to)
{
	for (guint i = 0; place->n_unresolved && i < blame->threads->len; i++) {
		struct pp_blame_thread *of = blame->threads->pdata[i];

		if (!of || !of->unresolved || of->unresolved->place != place)
			continue;
		of->unresolved->place = to;
		to->n_unresolved++;
		place->n_unresolved--;
	}
}

static bool on_fold(void *data, struct pp_object *object, struct pp_object *group)
{
	struct pp_blame *blame = data;
	struct pp_blame_place *place = g_steal_pointer(&object->data), *to;
	bool is_used;

	pp_idle_forget(&blame->idle, object);
	if (!place)
		return false;
	to = pp_blame_place_of(group);
	orphan(place, to);
	pp_blame_barrier_finish(place);
	is_used = place->cells || place->ref;
	move_unresolved(blame, place, to);
	pp_blame_fold_cells(to, place);
	pp_blame_nested_fold(to, place);
	pp_blame_idle_fold(to, place);
	pp_blame_place_free(place);
	return is_used;
}

static int64_t wait_of(const struct pp_object *object)
{
	const struct pp_blame_place *place = object->data;

	return place ? place->wait_ns : 0;
}

static int compare(const struct pp_object *a, const struct pp_object *b)
{
	return pp_object_compare(a, wait_of(a), b, wait_of(b));
}

/* -------------------------------------------------------------------------------------------- */

static void thread_free(void *data)
{
	struct pp_blame_thread *of = data;

	if (of)
		pp_blame_past_free(of->past);
	pp_blame_thread_free(of);
}

struct pp_blame *pp_blame_new(const struct pp_pass_context *context)
{
	struct pp_blame *blame = g_new0(struct pp_blame, 1);

	blame->context = context;
	blame->thread_listener = pp_objects_feed(&blame->objects);
	blame->thread_listener.interval = on_interval;
	blame->thread_listener.lost = on_lost;
	blame->thread_listener.waking = on_waking;
	blame->object_listener = (struct pp_object_listener){
	    .data = blame,
	    .waits = on_waits,
	    .operation = on_operation,
	    .released = on_released,
	    .dropped = on_dropped,
	    .fold = on_fold,
	    .compare = compare,
	    .context = context,
	};
	blame->threads = g_ptr_array_new_with_free_func(thread_free);
	pp_lost_threads_init(&blame->lost);
	pp_idle_init(&blame->idle, context);
	pp_objects_init(&blame->objects, &blame->object_listener, NULL);
	blame->states = pp_thread_states_share(context, &blame->thread_listener);
	return blame;
}

void pp_blame_free(struct pp_blame *blame)
{
	pp_thread_states_free(blame->states);
	g_ptr_array_unref(blame->threads);
	pp_objects_done(&blame->objects, pp_blame_place_free);
	pp_idle_done(&blame->idle);
	pp_lost_threads_done(&blame->lost);
	g_free(blame);
}

void pp_blame_event(struct pp_blame *blame, const struct pp_event *event)
{
	pp_thread_states_event(blame->states, event);
}

static void finish_thread(struct pp_blame_thread *of)
{
	if (!of)
		return;
	pp_blame_resolve(of, NULL);
	for (guint i = 0; i < of->waits->len; i++)
		pp_blame_nested_missed(g_array_index(of->waits, struct pp_blame_wait *, i));
}

void pp_blame_finish(struct pp_blame *blame, int64_t end_ns)
{
	const GPtrArray *all = blame->objects.all;

	pp_thread_states_finish(blame->states, end_ns);
	pp_objects_finish(&blame->objects, end_ns);
	for (guint i = 0; i < blame->threads->len; i++)
		finish_thread(blame->threads->pdata[i]);
	for (guint i = 0; i < all->len; i++) {
		const struct pp_object *object = all->pdata[i];

		if (!object || !object->data)
			continue;
		if (pp_object_is_lock(object))
			pp_blame_lock_finish(blame, object->data);
		pp_blame_barrier_finish(object->data);
	}
}

void pp_blame_walk(const struct pp_blame *blame,
		   void (*take)(void *data, const struct pp_object *object,
				const struct pp_blame_cell *cell, int64_t idle_ns),
		   void *data)
{
	const GPtrArray *all = blame->objects.all;

	for (guint i = 0; i < all->len; i++) {
		const struct pp_object *object = all->pdata[i];
		const struct pp_blame_place *place = object ? object->data : NULL;
		GHashTableIter iter;
		gpointer key;

		if (!place || !place->cells)
			continue;
		g_hash_table_iter_init(&iter, place->cells);
		while (g_hash_table_iter_next(&iter, &key, NULL))
			take(data, object, key, pp_blame_idle_part(place, key));
	}
}

void pp_blame_find_selected(const struct pp_blame *blame)
{
	const GPtrArray *all = blame->objects.all;

	if (!pp_selects_by(blame->context, PP_SELECT_OBJECT))
		return;
	for (guint i = 0; i < all->len; i++)
		if (all->pdata[i])
			pp_selects_object(blame->context, all->pdata[i]);
}

const struct pp_thread_states *pp_blame_states(const struct pp_blame *blame)
{
	return blame->states;
}
