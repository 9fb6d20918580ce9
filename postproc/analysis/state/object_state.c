/* SPDX-License-Identifier: MIT */
/* See object_state.h. */
#include "analysis/state/object_state.h"

#include <errno.h>
#include <pthread.h>

#include "analysis/state/object_fold.h"

static const struct pp_object_listener no_listener;

/* So many holds of an object are searched one by one. */
#define FEW_HOLDS 8

void pp_objects_init(struct pp_objects *objects, const struct pp_object_listener *listener,
		     struct pp_anomalies *anomalies)
{
	objects->listener = listener ? listener : &no_listener;
	objects->anomalies = anomalies;
	objects->spare = g_ptr_array_new_with_free_func(g_free);
	objects->spare_holds = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	objects->all = g_ptr_array_new();
	objects->folded = objects->listener->fold ? pp_folded_new() : NULL;
	objects->n_done = g_array_new(FALSE, TRUE, sizeof(uint64_t));
}

void pp_objects_done(struct pp_objects *objects, GDestroyNotify free_data)
{
	if (!objects->all)
		return;
	for (guint i = 0; i < objects->all->len; i++) {
		struct pp_object *object = objects->all->pdata[i];

		if (!object)
			continue;
		if (free_data && object->data)
			free_data(object->data);
		g_clear_pointer(&object->holds, g_array_unref);
		g_clear_pointer(&object->hold_of, g_hash_table_unref);
		g_clear_pointer(&object->waiters, g_array_unref);
		g_free(object);
	}
	g_clear_pointer(&objects->spare_holds, g_ptr_array_unref);
	g_clear_pointer(&objects->all, g_ptr_array_unref);
	g_clear_pointer(&objects->n_done, g_array_unref);
	g_clear_pointer(&objects->spare, g_ptr_array_unref);
	pp_object_table_done(&objects->live);
	g_clear_pointer(&objects->folded, pp_folded_free);
}

/* True if the operation releases and re-acquires a mutex, and mutexes are recorded. */
static bool yields_mutex(const struct pp_operation *operation)
{
	return pp_sync_has(operation->op, PP_SYNC_YIELDS) && operation->value != 0 &&
	       !(operation->thread->process->sync_types_off & 1u << GM_SYNC_TYPE_mutex);
}

/* True if the operation acquired its object. */
static bool has_acquired(const struct pp_operation *operation)
{
	return operation->finished && pp_sync_acquired(operation->op, operation->result);
}

/* --- holds ---------------------------------------------------------------------------------- */

static struct pp_hold *hold_at(const struct pp_object *object, guint i)
{
	return &g_array_index(object->holds, struct pp_hold, i);
}

static inline int find_hold(const struct pp_object *object, const struct pp_thread *thread)
{
	if (G_UNLIKELY(object->hold_of))
		return GPOINTER_TO_INT(g_hash_table_lookup(object->hold_of, thread)) - 1;
	for (guint i = 0; i < pp_object_n_holds(object); i++)
		if (hold_at(object, i)->thread == thread)
			return (int)i;
	return -1;
}

const struct pp_hold *pp_object_hold(const struct pp_object *object, const struct pp_thread *thread)
{
	int at = find_hold(object, thread);

	return at >= 0 ? hold_at(object, (guint)at) : NULL;
}

bool pp_object_is_held(const struct pp_object *object, const struct pp_thread *thread)
{
	const struct pp_hold *hold = pp_object_hold(object, thread);

	return hold && hold->superseded_ns == PP_TIME_UNKNOWN;
}

static void note_position(struct pp_object *object, guint at)
{
	g_hash_table_insert(object->hold_of, (void *)hold_at(object, at)->thread,
			    GINT_TO_POINTER((int)at + 1));
}

static G_GNUC_NO_INLINE void note_positions(struct pp_object *object)
{
	object->hold_of = g_hash_table_new(NULL, NULL);
	for (guint i = 0; i < object->holds->len; i++)
		note_position(object, i);
}

/* The last hold takes the place of that one. */
static G_GNUC_NO_INLINE void move_last(struct pp_object *object, guint at)
{
	g_hash_table_remove(object->hold_of, hold_at(object, at)->thread);
	g_array_remove_index_fast(object->holds, at);
	if (at < object->holds->len)
		note_position(object, at);
	else if (!object->holds->len)
		g_clear_pointer(&object->hold_of, g_hash_table_unref);
}

static void leave_current(struct pp_object *object, const struct pp_hold *hold)
{
	object->n_current--;
	object->n_exclusive -= !hold->shared;
}

/* Most objects are free most of the time, so held ones share spare arrays. */
static void add_hold(struct pp_objects *objects, struct pp_object *object,
		     const struct pp_hold *hold)
{
	GPtrArray *spare = objects->spare_holds;

	if (!object->holds)
		object->holds = spare->len ? g_ptr_array_steal_index_fast(spare, spare->len - 1)
					   : g_array_new(FALSE, FALSE, sizeof(*hold));
	g_array_append_vals(object->holds, hold, 1);
	object->n_current++;
	object->n_exclusive += !hold->shared;
	if (G_UNLIKELY(object->hold_of))
		note_position(object, object->holds->len - 1);
	else if (G_UNLIKELY(object->holds->len > FEW_HOLDS))
		note_positions(object);
}

static void remove_hold(struct pp_objects *objects, struct pp_object *object, guint at)
{
	const struct pp_hold *hold = hold_at(object, at);

	if (hold->superseded_ns == PP_TIME_UNKNOWN)
		leave_current(object, hold);
	if (G_UNLIKELY(object->hold_of))
		move_last(object, at);
	else
		g_array_remove_index_fast(object->holds, at);
	if (!object->holds->len)
		g_ptr_array_add(objects->spare_holds, g_steal_pointer(&object->holds));
}

static void supersede(struct pp_object *object, struct pp_hold *hold,
		      const struct pp_operation *operation)
{
	hold->superseded_ns = operation->end_ns;
	hold->superseded_by = operation->thread;
	leave_current(object, hold);
	object->n_superseded++;
}

static void drop_hold(struct pp_objects *objects, struct pp_object *object, guint at)
{
	pp_anomaly_add(objects->anomalies, PP_ANOMALY_RELEASE_MISSING, hold_at(object, at)->thread);
	remove_hold(objects, object, at);
}

static void notify_dropped(struct pp_objects *objects, struct pp_object *object,
			   const struct pp_thread *thread)
{
	if (objects->listener->dropped)
		objects->listener->dropped(objects->listener->data, object, thread);
}

static void end_hold(struct pp_objects *objects, struct pp_object *object, guint at, int64_t end_ns,
		     const struct pp_operation *operation)
{
	struct pp_hold hold = *hold_at(object, at);

	remove_hold(objects, object, at);
	if (hold.superseded_ns != PP_TIME_UNKNOWN && hold.superseded_ns < end_ns)
		end_ns = hold.superseded_ns;
	if (objects->listener->released)
		objects->listener->released(objects->listener->data, object, &hold,
					    MAX(end_ns, hold.since_ns), operation);
}

/* The end of a dead owner's hold: the end of the owner. */
static int64_t end_of_dead(const struct pp_hold *hold, int64_t now_ns)
{
	int64_t end_ns = hold->thread->end_ns;

	return end_ns != PP_TIME_UNKNOWN && end_ns >= hold->since_ns && end_ns < now_ns ? end_ns
											: now_ns;
}

static uint64_t *n_done(struct pp_objects *objects, const struct pp_thread *thread)
{
	if (thread->serial >= objects->n_done->len)
		g_array_set_size(objects->n_done, thread->serial + 1);
	return &g_array_index(objects->n_done, uint64_t, thread->serial);
}

uint64_t pp_objects_n_done(const struct pp_objects *objects, const struct pp_thread *thread)
{
	const GArray *all = objects->n_done;

	return thread->serial < all->len ? g_array_index(all, uint64_t, thread->serial) : 0;
}

/*
 * True if the thread did nothing after the acquisition and did not end.  Its process may have ended
 * between the release and its record.
 */
static bool may_have_been_cut(struct pp_objects *objects, const struct pp_hold *hold)
{
	return !hold->thread->ended && *n_done(objects, hold->thread) == hold->n_before;
}

static G_GNUC_NO_INLINE void end_dead_holds(struct pp_objects *objects, struct pp_object *object,
					    const struct pp_operation *operation)
{
	for (guint i = pp_object_n_holds(object); i-- > 0 && object->holds;)
		end_hold(objects, object, i, end_of_dead(hold_at(object, i), operation->end_ns),
			 operation);
}

static G_GNUC_NO_INLINE void supersede_others(struct pp_object *object, bool shared,
					      const struct pp_operation *operation)
{
	for (guint i = 0; i < pp_object_n_holds(object); i++) {
		struct pp_hold *other = hold_at(object, i);

		if (other->superseded_ns == PP_TIME_UNKNOWN && !(shared && other->shared))
			supersede(object, other, operation);
	}
}

/*
 * True if the thread still has its hold as far as the clocks tell: the acquisition that superseded
 * it was stamped so close to the hold's begin, or to now, that it may have come before or after.
 */
static bool may_still_hold(const struct pp_hold *hold, int64_t now_ns)
{
	int64_t order_ns;

	if (hold->superseded_ns == PP_TIME_UNKNOWN)
		return true;
	order_ns = pp_order_ns(hold->thread, hold->superseded_by);
	return hold->superseded_ns - hold->since_ns <= order_ns ||
	       now_ns - hold->superseded_ns <= order_ns;
}

static void take(struct pp_objects *objects, struct pp_object *object,
		 const struct pp_operation *operation)
{
	int64_t now_ns = operation->end_ns;
	bool shared = pp_sync_has(operation->op, PP_SYNC_SHARED);
	bool may_recurse =
	    shared || (object->type == GM_SYNC_TYPE_mutex &&
		       (!object->initialized || object->value == PTHREAD_MUTEX_RECURSIVE));
	struct pp_hold hold = {
	    .thread = operation->thread,
	    .op = operation->op,
	    .site = operation->site,
	    .path = operation->path,
	    .since_ns = now_ns,
	    .waited = operation->waited,
	    .shared = shared,
	    .wait_ns = now_ns - operation->begin_ns,
	    .superseded_ns = PP_TIME_UNKNOWN,
	    .n_before = *n_done(objects, operation->thread),
	    .depth = 1,
	};
	int own = find_hold(object, operation->thread);

	/* In such captures, most acquisitions were only counted. */
	if (object->process->no_holds)
		return;
	if (own >= 0) {
		struct pp_hold *held = hold_at(object, (guint)own);

		if (may_recurse && may_still_hold(held, now_ns)) {
			held->depth++;
			return;
		}
		drop_hold(objects, object, (guint)own);
	}
	if (G_UNLIKELY(operation->result == EOWNERDEAD))
		end_dead_holds(objects, object, operation);
	else if (shared ? object->n_exclusive : object->n_current)
		supersede_others(object, shared, operation);
	add_hold(objects, object, &hold);
}

static void release(struct pp_objects *objects, struct pp_object *object,
		    const struct pp_operation *operation, int64_t now_ns)
{
	int at = find_hold(object, operation->thread);

	if (object->process->no_holds)
		return;
	if (at >= 0) {
		if (--hold_at(object, (guint)at)->depth == 0)
			end_hold(objects, object, (guint)at, now_ns, operation);
		return;
	}
	/* It has held the lock since before the time that the ring has. */
	if (operation->thread->begins_late && !object->n_exclusive) {
		objects->n_early++;
		return;
	}
	for (guint i = 0; i < pp_object_n_holds(object); i++) {
		if (hold_at(object, i)->superseded_ns != PP_TIME_UNKNOWN)
			continue;
		pp_anomaly_add(objects->anomalies, PP_ANOMALY_RELEASE_BY_ANOTHER,
			       operation->thread);
		end_hold(objects, object, i, now_ns, operation);
		return;
	}
	/* If only contended operations are recorded, the acquisition may have no event. */
	if (!object->process->only_waits)
		pp_anomaly_add(objects->anomalies, PP_ANOMALY_RELEASE_NOT_TAKEN, operation->thread);
}

/* --- generations ---------------------------------------------------------------------------- */

static void end_generation(struct pp_objects *objects, struct pp_object *object)
{
	while (object->holds) {
		guint last = object->holds->len - 1;

		notify_dropped(objects, object, hold_at(object, last)->thread);
		drop_hold(objects, object, last);
	}
	if (objects->folded && !object->ended)
		pp_folded_add(objects, object);
	object->ended = true;
}

static bool is_named(uint64_t load_id)
{
	return GM_PLACE(load_id) != PP_LOAD_UNNAMED;
}

/*
 * True if the address belongs to another mapping.  If the object was first used before its
 * library's mapping was certain, it is the same object only if it is in use now.
 */
static bool is_of_another_load(const struct pp_object *object, uint64_t load_id)
{
	if (object->load_id - GM_PLACE(object->load_id) != load_id - GM_PLACE(load_id))
		return true;
	return !is_named(object->load_id) && is_named(load_id) && !pp_object_n_holds(object) &&
	       !pp_object_n_waiters(object);
}

static void learn_load_id(struct pp_object *object, uint64_t load_id)
{
	if (is_named(load_id))
		object->load_id = load_id;
}

/* True if the operation proves that the previous object at the address no longer exists. */
static bool replaces(const struct pp_object *object, const struct pp_operation *operation)
{
	if (object->ended || object->type != pp_sync_type(operation->op) ||
	    is_of_another_load(object, operation->object_load_id))
		return true;
	if (operation->op == ST_EVENT_thread_create)
		return object->created;
	if (operation->op == ST_EVENT_thread_start)
		return object->started;
	return pp_sync_has(operation->op, PP_SYNC_INITIALIZES) && operation->finished &&
	       operation->result == 0;
}

/* An object whose members are 0. */
static struct pp_object *empty_object(struct pp_objects *objects)
{
	GPtrArray *spare = objects->spare;
	struct pp_object *object;

	if (!spare->len)
		return g_new0(struct pp_object, 1);
	object = g_ptr_array_steal_index_fast(spare, spare->len - 1);
	*object = (struct pp_object){0};
	return object;
}

/* The next generation at the address. */
static struct pp_object *object_new(struct pp_objects *objects,
				    const struct pp_operation *operation, uint64_t address,
				    uint64_t load_id, enum gm_sync_type type)
{
	const struct pp_process *process = operation->thread->process;
	struct pp_object_entry *entry = pp_object_table_get(&objects->live, process, address);
	unsigned previous =
	    entry->is_folded || !entry->object ? entry->generation : entry->object->generation;
	struct pp_object *object;

	if (objects->folded)
		pp_folded_run(objects);
	object = empty_object(objects);
	object->process = process;
	object->address = address;
	object->load_id = load_id;
	object->generation = previous + 1;
	object->serial = pp_folded_serial(objects);
	object->order = objects->n_ever++;
	object->type = type;
	object->first_site = operation->site;
	objects->all->pdata[object->serial] = object;
	pp_folded_replace(objects, object);
	*pp_objects_recent(objects, address) = object;
	return object;
}

struct pp_object *pp_objects_at(struct pp_objects *objects, const struct pp_process *process,
				uint64_t address)
{
	struct pp_object **recent = pp_objects_recent(objects, address), *object = *recent;
	const struct pp_object_entry *entry;

	if (object && object->address == address && object->process == process)
		return object;
	entry = pp_object_table_find(&objects->live, process, address);
	if (!entry || entry->is_folded)
		return NULL;
	return *recent = entry->object;
}

/* The object of an operation, in the right generation. */
static struct pp_object *object_of(struct pp_objects *objects, const struct pp_operation *operation)
{
	struct pp_object *object =
	    pp_objects_at(objects, operation->thread->process, operation->object);

	if (object && !replaces(object, operation)) {
		learn_load_id(object, operation->object_load_id);
		return object;
	}
	if (object && !object->ended)
		end_generation(objects, object);
	return object_new(objects, operation, operation->object, operation->object_load_id,
			  pp_sync_type(operation->op));
}

struct pp_object *pp_objects_counted(struct pp_objects *objects,
				     const struct pp_operation *operation)
{
	struct pp_object *object =
	    pp_objects_at(objects, operation->thread->process, operation->object);
	enum gm_sync_type type = pp_sync_type(operation->op);
	struct pp_object *group;

	if (object && object->type == type)
		return object;
	group =
	    object ? NULL : pp_folded_group(objects, operation->thread->process, operation->object);
	if (group && group->type == type)
		return group;
	return object_new(objects, operation, operation->object, operation->object_load_id, type);
}

/* The mutex of a condition wait. */
static struct pp_object *mutex_of(struct pp_objects *objects, const struct pp_operation *operation)
{
	const enum gm_sync_type type = GM_SYNC_TYPE_mutex;
	struct pp_object *object =
	    pp_objects_at(objects, operation->thread->process, operation->value);

	if (object && !object->ended && object->type == type &&
	    !is_of_another_load(object, operation->value_load_id)) {
		learn_load_id(object, operation->value_load_id);
		return object;
	}
	return object_new(objects, operation, operation->value, operation->value_load_id, type);
}

/* --- waiters -------------------------------------------------------------------------------- */

static void remove_waiter(struct pp_object *object, const struct pp_operation *operation)
{
	for (guint i = pp_object_n_waiters(object); i-- > 0;) {
		const struct pp_waiter *waiter =
		    &g_array_index(object->waiters, struct pp_waiter, i);

		if (waiter->thread == operation->thread && waiter->op == operation->op) {
			g_array_remove_index_fast(object->waiters, i);
			return;
		}
	}
}

static void feed_begin(void *data, const struct pp_operation *operation)
{
	struct pp_objects *objects = data;
	struct pp_object *object = object_of(objects, operation);
	struct pp_waiter waiter = {
	    .thread = operation->thread,
	    .op = operation->op,
	    .holder = operation->holder,
	    .site = operation->site,
	    .since_ns = operation->begin_ns,
	};

	++*n_done(objects, operation->thread);
	if (!object->waiters)
		object->waiters = g_array_new(FALSE, FALSE, sizeof(waiter));
	g_array_append_val(object->waiters, waiter);
	if (objects->listener->waits)
		objects->listener->waits(objects->listener->data, object, operation);
	if (yields_mutex(operation)) {
		struct pp_object *mutex = mutex_of(objects, operation);

		release(objects, mutex, operation, operation->begin_ns);
		if (objects->listener->yielded)
			objects->listener->yielded(objects->listener->data, mutex, operation);
	}
}

/* --- operations ----------------------------------------------------------------------------- */

static void set_up(struct pp_object *object, const struct pp_operation *operation)
{
	object->initialized = true;
	object->init_site = operation->site;
	object->value = operation->value;
}

/* Handles a successful operation that neither acquires nor releases. */
static void note(struct pp_objects *objects, struct pp_object *object,
		 const struct pp_operation *operation)
{
	switch (operation->op) {
	case ST_EVENT_sem_open:
		if (!object->initialized)
			set_up(object, operation);
		break;
	case ST_EVENT_thread_create:
		object->created = true;
		object->init_site = operation->site;
		break;
	case ST_EVENT_thread_start:
		object->started = true;
		object->subject = operation->thread;
		break;
	default:
		if (pp_sync_has(operation->op, PP_SYNC_INITIALIZES))
			set_up(object, operation);
		else if (pp_sync_has(operation->op, PP_SYNC_DESTROYS))
			end_generation(objects, object);
		break;
	}
}

static void notify(struct pp_objects *objects, struct pp_object *object,
		   const struct pp_operation *operation, bool acquired)
{
	if (objects->listener->operation)
		objects->listener->operation(objects->listener->data, object, operation, acquired);
}

static void end_cond_wait(struct pp_objects *objects, const struct pp_operation *operation)
{
	struct pp_object *mutex = mutex_of(objects, operation);

	/*
	 * The thread owns the mutex again after every result except ENOTRECOVERABLE, and except
	 * after a signal handler jumped out of the wait (EINTR, which the call itself never
	 * returns).
	 */
	if (!operation->finished || operation->result == ENOTRECOVERABLE ||
	    operation->result == EINTR)
		return;
	take(objects, mutex, operation);
	notify(objects, mutex, operation, true);
}

static void feed_operation(void *data, const struct pp_operation *operation)
{
	struct pp_objects *objects = data;
	struct pp_object *object;
	bool acquired = has_acquired(operation);

	++*n_done(objects, operation->thread);
	if (!operation->object)
		return;
	object = object_of(objects, operation);
	if (operation->waited)
		remove_waiter(object, operation);
	if (operation->finished && operation->result == 0) {
		if (pp_sync_has(operation->op, PP_SYNC_RELEASES))
			release(objects, object, operation, operation->end_ns);
		else
			note(objects, object, operation);
	}
	if (acquired && pp_object_is_lock(object))
		take(objects, object, operation);
	notify(objects, object, operation, acquired);
	if (yields_mutex(operation) && operation->waited)
		end_cond_wait(objects, operation);
	if (acquired && operation->op == ST_EVENT_thread_join)
		end_generation(objects, object);
}

void pp_objects_lost(struct pp_objects *objects, const struct pp_thread *thread)
{
	for (guint i = 0; i < objects->all->len; i++) {
		struct pp_object *object = objects->all->pdata[i];
		int at = object ? find_hold(object, thread) : -1;

		if (at < 0)
			continue;
		notify_dropped(objects, object, thread);
		remove_hold(objects, object, (guint)at);
	}
}

void pp_objects_finish(struct pp_objects *objects, int64_t end_ns)
{
	if (objects->folded)
		pp_folded_finish(objects);
	for (guint i = 0; i < objects->all->len; i++) {
		struct pp_object *object = objects->all->pdata[i];

		while (object && object->holds) {
			guint last = object->holds->len - 1;
			const struct pp_hold *hold = hold_at(object, last);

			if (hold->superseded_ns != PP_TIME_UNKNOWN &&
			    !may_have_been_cut(objects, hold))
				drop_hold(objects, object, last);
			else
				end_hold(objects, object, last, end_of_dead(hold, end_ns), NULL);
		}
	}
}

static void feed_lost(void *data, const struct pp_thread *thread)
{
	pp_objects_lost(data, thread);
}

struct pp_thread_listener pp_objects_feed(struct pp_objects *objects)
{
	return (struct pp_thread_listener){
	    .data = objects,
	    .begin = feed_begin,
	    .operation = feed_operation,
	    .lost = feed_lost,
	};
}
