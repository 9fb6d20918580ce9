/* SPDX-License-Identifier: MIT */
/*
 * The lock-order graph: an edge A -> B for each attempt to acquire B by a thread that held A.
 * Failed attempts count, so deadlocks that occurred are visible.
 *
 * It includes mutexes, spin locks and read-write locks, also of readers.  A try adds no edge, since
 * it does not wait; if it succeeds, the lock is held from then on.  A recursive acquisition adds no
 * edge.  A condition wait re-acquires its mutex while the thread holds its other locks.
 */
#include "analysis/select.h"
#include "pass/lock_order/lock_order.h"

/*
 * If a thread holds more locks, only the last ones are considered; 1,000 locks of an array,
 * acquired in a row, give no information.
 */
#define MAX_HELD 32u

#define NO_SET (UINT32_MAX >> 2)

struct held {
	struct pp_object *object;
	uint32_t site;
	bool shared;
};

static GArray *held_by(struct pp_lock_order *self, const struct pp_thread *thread)
{
	pp_by_serial_reach(self->held, thread->serial);
	if (!self->held->pdata[thread->serial])
		self->held->pdata[thread->serial] = g_array_new(FALSE, FALSE, sizeof(struct held));
	return self->held->pdata[thread->serial];
}

static int find_held(const GArray *held, const struct pp_object *object)
{
	for (guint i = held->len; i-- > 0;)
		if (g_array_index(held, struct held, i).object == object)
			return (int)i;
	return -1;
}

static gint compare_numbers(gconstpointer a, gconstpointer b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The number of the set of held objects; NO_SET: a new set, for which no link is added any more. */
static uint32_t set_number(struct pp_lock_order *self, const GArray *held, guint first)
{
	GArray *set = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	GBytes *bytes;
	void *number;

	for (guint i = first; i < held->len; i++) {
		const struct held *one = &g_array_index(held, struct held, i);
		uint32_t element = pp_object_number(one->object) << 1 | one->shared;

		g_array_append_val(set, element);
	}
	g_array_sort(set, compare_numbers);
	bytes = g_bytes_new(set->data, set->len * sizeof(uint32_t));
	g_array_unref(set);
	number = g_hash_table_lookup(self->set_of, bytes);
	if (number || pp_links_are_full(&self->links)) {
		g_bytes_unref(bytes);
		return number ? GPOINTER_TO_UINT(number) - 1 : NO_SET;
	}
	g_ptr_array_add(self->sets, bytes);
	g_hash_table_insert(self->set_of, bytes, GUINT_TO_POINTER(self->sets->len));
	return self->sets->len - 1;
}

/* Adds edges from all held objects to the object that the thread wants. */
static void attempt(struct pp_lock_order *self, struct pp_object *object,
		    const struct pp_operation *operation)
{
	const struct pp_thread *thread = operation->thread;
	GArray *held = held_by(self, thread);
	struct pp_call_site site = {thread->process, operation->site, operation->op};
	int64_t now_ns = operation->begin_ns;
	bool is_added = false;
	guint first;
	uint32_t set;

	for (guint i = held->len; i-- > 0;)
		if (!pp_object_is_held(g_array_index(held, struct held, i).object, thread))
			g_array_remove_index(held, i);
	if (!held->len)
		return;
	first = held->len > MAX_HELD ? held->len - MAX_HELD : 0;
	self->not_looked += first;
	set = set_number(self, held, first);
	for (guint i = first; i < held->len; i++) {
		const struct held *one = &g_array_index(held, struct held, i);
		struct pp_link link = {
		    .from = pp_object_number(one->object),
		    .to = pp_object_number(object),
		    .parts[PP_ORDER_PART_THREAD] = thread->serial,
		    .parts[PP_ORDER_PART_HELD_SITE] = one->site,
		    .parts[PP_ORDER_PART_SITE] = pp_call_sites_number(&self->sites, site),
		    .parts[PP_ORDER_PART_HELD] =
			set << 2 | (one->shared ? PP_ORDER_HELD_SHARED : 0) |
			(pp_sync_has(operation->op, PP_SYNC_SHARED) ? PP_ORDER_WANTED_SHARED : 0),
		    .first_ns = now_ns,
		    .last_ns = now_ns,
		};

		is_added |= pp_links_add(&self->links, &link, 0);
	}
	if (!is_added)
		return;
	pp_object_refs_add(&self->refs, object);
	for (guint i = first; i < held->len; i++)
		pp_object_refs_add(&self->refs, g_array_index(held, struct held, i).object);
}

static void on_waits(void *data, struct pp_object *object, const struct pp_operation *operation)
{
	struct pp_lock_order *self = data;

	if (pp_object_is_lock(object) && find_held(held_by(self, operation->thread), object) < 0)
		attempt(self, object, operation);
}

/* A condition wait has released its mutex, and will re-acquire it. */
static void on_yielded(void *data, struct pp_object *mutex, const struct pp_operation *operation)
{
	on_waits(data, mutex, operation);
}

static struct pp_order_life *life_of(struct pp_lock_order *self, const struct pp_thread *thread)
{
	static const struct pp_order_life unknown = {PP_LINK_NONE, PP_LINK_NONE, 0, 0};

	while (self->lives->len <= thread->serial)
		g_array_append_val(self->lives, unknown);
	return &g_array_index(self->lives, struct pp_order_life, thread->serial);
}

/* object->data of a thread's object: its lifetime, until the thread is known. */
static void note_life(struct pp_lock_order *self, struct pp_object *object,
		      const struct pp_operation *operation)
{
	struct pp_order_life *life;

	if (operation->op == ST_EVENT_thread_create) {
		life = object->data = object->data ? object->data : g_new(struct pp_order_life, 1);
		life->creator = operation->thread->serial;
		life->created_ns = operation->begin_ns;
	} else if (operation->op == ST_EVENT_thread_start && object->data) {
		const struct pp_order_life *created = object->data;

		life = life_of(self, operation->thread);
		life->creator = created->creator;
		life->created_ns = created->created_ns;
	} else if (operation->op == ST_EVENT_thread_join && operation->finished &&
		   !operation->result && object->subject) {
		life = life_of(self, object->subject);
		life->joiner = operation->thread->serial;
		life->joined_ns = operation->end_ns;
	}
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct pp_lock_order *self = data;
	GArray *held = held_by(self, operation->thread);
	struct held now = {
	    .object = object,
	    .site = pp_call_sites_number(
		&self->sites,
		(struct pp_call_site){operation->thread->process, operation->site, operation->op}),
	    .shared = pp_sync_has(operation->op, PP_SYNC_SHARED),
	};

	note_life(self, object, operation);
	if (!acquired || !pp_object_is_lock(object) || object->process->no_holds ||
	    find_held(held, object) >= 0)
		return;
	/* If it had waited, its begin would have been processed before; a try never waits. */
	if (!operation->waited && pp_sync_has(operation->op, PP_SYNC_BLOCKS))
		attempt(self, object, operation);
	g_array_append_val(held, now);
}

static void drop_held(struct pp_lock_order *self, const struct pp_object *object,
		      const struct pp_thread *thread)
{
	GArray *held = held_by(self, thread);
	int at = find_held(held, object);

	if (at >= 0)
		g_array_remove_index(held, (guint)at);
}

static void on_dropped(void *data, struct pp_object *object, const struct pp_thread *thread)
{
	drop_held(data, object, thread);
}

static void on_released(void *data, struct pp_object *object, const struct pp_hold *hold,
			int64_t end_ns, const struct pp_operation *operation)
{
	(void)end_ns;
	(void)operation;
	drop_held(data, object, hold->thread);
}

static bool on_end(void *data, struct pp_object *object, struct pp_object *group)
{
	struct pp_lock_order *self = data;

	(void)group;
	g_clear_pointer(&object->data, g_free);
	return pp_object_refs_end(&self->refs, object);
}

static void on_lost(void *data, const struct pp_thread *thread)
{
	pp_objects_lost(data, thread);
	g_array_set_size(held_by(pp_objects_owner(data), thread), 0);
}

static void held_free(void *data)
{
	if (data)
		g_array_unref(data);
}

static void *lock_order_start(const struct pp_pass_context *context)
{
	struct pp_lock_order *self = g_new0(struct pp_lock_order, 1);

	self->context = context;
	self->thread_listener = pp_objects_feed(&self->objects);
	self->thread_listener.lost = on_lost;
	self->object_listener = (struct pp_object_listener){
	    .data = self,
	    .waits = on_waits,
	    .operation = on_operation,
	    .released = on_released,
	    .yielded = on_yielded,
	    .dropped = on_dropped,
	    .fold = on_end,
	};
	pp_objects_init(&self->objects, &self->object_listener, NULL);
	pp_object_refs_init(&self->refs);
	pp_call_sites_init(&self->sites);
	pp_links_init(&self->links);
	self->lives = g_array_new(FALSE, FALSE, sizeof(struct pp_order_life));
	self->held = g_ptr_array_new_with_free_func(held_free);
	self->sets = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
	self->set_of = g_hash_table_new(g_bytes_hash, g_bytes_equal);
	self->states = pp_thread_states_new(context, &self->thread_listener, NULL);
	return self;
}

static void lock_order_event(void *state, const struct pp_event *event)
{
	pp_thread_states_event(((struct pp_lock_order *)state)->states, event);
}

static void lock_order_free(void *state)
{
	struct pp_lock_order *self = state;

	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, g_free);
	pp_object_refs_done(&self->refs);
	pp_call_sites_done(&self->sites);
	pp_links_done(&self->links);
	g_array_unref(self->lives);
	g_ptr_array_unref(self->held);
	g_hash_table_unref(self->set_of);
	g_ptr_array_unref(self->sets);
	g_free(self);
}

const struct pp_pass pp_pass_lock_order = {
    .name = "lock-order",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_THREAD,
    .has_operations = true,
    .start = lock_order_start,
    .event = lock_order_event,
    .finish = pp_lock_order_finish,
    .free = lock_order_free,
};
