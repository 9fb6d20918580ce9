/* SPDX-License-Identifier: MIT */
/*
 * Each thread has a list of its open instances, of which there are few.  A segment ends at the time
 * of an operation and is read before it, so it belongs to the instances that are open then.
 *
 * In sampled mode the stepped segments of an instance cover all of its time, or it is not sampled:
 * stepping may begin or end within it, for another section.
 */
#include "analysis/accesses/sections.h"

#include <pthread.h>

#include "sync-trace/accesses.h"

/* A segment may be written a few ns late, if a packet begins with it. */
#define LATE_NS 4

/* Lines of a freed block; of larger ones it is only known that a section freed them. */
#define FREED_LINES_MAX 65536u

struct open_instance {
	struct pp_access_instance instance; /* the sets are references */
	int64_t covered_ns;		    /* stepped segments cover the time up to then */
	bool is_stepped, is_abandoned;
};

struct pp_access_sections {
	const struct pp_access_listener *listener;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_objects objects;
	struct pp_thread_states *states;
	GPtrArray *threads; /* by serial: GArray of struct open_instance; NULL: none */
	GPtrArray *active;  /* those of the threads that have open instances */
	struct pp_access_set *empty;
	int64_t now_ns;
};

unsigned pp_lock_bytes(enum gm_sync_type type)
{
	switch (type) {
	case GM_SYNC_TYPE_mutex:
		return sizeof(pthread_mutex_t);
	case GM_SYNC_TYPE_rwlock:
		return sizeof(pthread_rwlock_t);
	case GM_SYNC_TYPE_spin:
		return sizeof(pthread_spinlock_t);
	default:
		return 0;
	}
}

/* --- open instances --------------------------------------------------------------------------- */

/* Returns NULL if the thread has none. */
static GArray *open_of(const struct pp_access_sections *sections, const struct pp_thread *thread)
{
	return thread->serial < sections->threads->len ? sections->threads->pdata[thread->serial]
						       : NULL;
}

static struct open_instance *open_at(const GArray *open, guint i)
{
	return &g_array_index(open, struct open_instance, i);
}

/* Returns the position of the thread's instance; -1: it has none. */
static int find_open(const GArray *open, const struct pp_object *object)
{
	for (guint i = open ? open->len : 0; i-- > 0;)
		if (open_at(open, i)->instance.object == object)
			return (int)i;
	return -1;
}

static void set_empty(const struct pp_access_sections *sections,
		      struct pp_access_instance *instance)
{
	instance->set = pp_access_set_ref(sections->empty);
	instance->ended_set = pp_access_set_ref(sections->empty);
	instance->freed_set = pp_access_set_ref(sections->empty);
}

static void unref_sets(const struct pp_access_instance *instance)
{
	pp_access_set_unref(instance->set);
	pp_access_set_unref(instance->ended_set);
	pp_access_set_unref(instance->freed_set);
}

static void free_open(void *data)
{
	GArray *open = data;

	for (guint i = 0; open && i < open->len; i++)
		unref_sets(&open_at(open, i)->instance);
	if (open)
		g_array_unref(open);
}

static void enter(struct pp_access_sections *sections, struct pp_object *object,
		  const struct pp_operation *operation, const struct pp_hold *hold)
{
	const struct pp_thread *thread = operation->thread;
	GArray *open;
	struct open_instance entered = {
	    .instance = {.thread = thread,
			 .object = object,
			 .op = operation->op,
			 .site = operation->site,
			 .path = operation->path,
			 .shared = hold->shared,
			 .order = operation->order,
			 .begin_ns = operation->end_ns},
	    .covered_ns = operation->end_ns,
	};

	set_empty(sections, &entered.instance);
	pp_by_serial_reach(sections->threads, thread->serial);
	if (!sections->threads->pdata[thread->serial])
		sections->threads->pdata[thread->serial] =
		    g_array_new(FALSE, FALSE, sizeof(struct open_instance));
	open = sections->threads->pdata[thread->serial];
	if (!open->len)
		g_ptr_array_add(sections->active, open);
	g_array_append_val(open, entered);
}

/* --- what is known ---------------------------------------------------------------------------- */

static enum pp_accesses_known find_known(const struct open_instance *open)
{
	const struct pp_access_instance *instance = &open->instance;
	const struct pp_thread *thread = instance->thread;

	switch (thread->process->accesses) {
	case PP_ACCESSES_COMPILED:
		/* A thread with only its waits recorded has no accesses. */
		return thread->sync_since_ns && instance->end_ns > thread->sync_since_ns
			   ? PP_ACCESSES_UNKNOWN
			   : PP_ACCESSES_KNOWN;
	case PP_ACCESSES_SAMPLED:
		if (open->is_abandoned)
			return PP_ACCESSES_ABANDONED;
		return open->is_stepped && open->covered_ns + LATE_NS >= instance->end_ns
			   ? PP_ACCESSES_KNOWN
			   : PP_ACCESSES_UNSAMPLED;
	default:
		return PP_ACCESSES_UNKNOWN;
	}
}

static void drop_accesses(const struct pp_access_sections *sections,
			  struct pp_access_instance *instance)
{
	unref_sets(instance);
	set_empty(sections, instance);
	instance->reads = instance->writes = instance->left_out = 0;
	instance->flags = 0;
}

static void leave_out_lock(struct pp_access_instance *instance)
{
	struct pp_access_set *whole = instance->set;

	instance->set = pp_access_set_without(whole, instance->object->address,
					      pp_lock_bytes(instance->object->type));
	pp_access_set_unref(whole);
}

static void leave(struct pp_access_sections *sections, GArray *all, guint at, int64_t end_ns,
		  bool is_cut)
{
	struct open_instance open = *open_at(all, at);
	struct pp_access_instance *instance = &open.instance;

	g_array_remove_index_fast(all, at);
	if (!all->len)
		g_ptr_array_remove_fast(sections->active, all);
	instance->end_ns = MAX(end_ns, instance->begin_ns);
	instance->is_cut = is_cut;
	instance->known = find_known(&open);
	if (instance->known != PP_ACCESSES_KNOWN)
		drop_accesses(sections, instance);
	leave_out_lock(instance);
	if (sections->listener->ended)
		sections->listener->ended(sections->listener->data, instance);
	unref_sets(instance);
}

/* --- segments --------------------------------------------------------------------------------- */

static void note_step(struct open_instance *open, const struct pp_event *event)
{
	int64_t begin_ns = event->time_ns - (int64_t)MIN(event->segment.duration_ns, INT64_MAX);

	if (!(event->segment.flags & ST_ACCESS_STEPPED))
		return;
	open->is_stepped = true;
	open->is_abandoned |= (event->segment.flags & ST_ACCESS_ABANDONED) != 0;
	if (begin_ns <= open->covered_ns + LATE_NS)
		open->covered_ns = MAX(open->covered_ns, event->time_ns);
}

static void add_segment(struct pp_access_sections *sections, const struct pp_event *event)
{
	GArray *open = open_of(sections, event->thread);

	for (guint i = 0; open && i < open->len; i++) {
		struct pp_access_instance *instance = &open_at(open, i)->instance;
		struct pp_access_set *before = instance->set;

		note_step(open_at(open, i), event);
		instance->set = pp_access_set_union(before, event->segment.set);
		pp_access_set_unref(before);
		instance->reads += event->segment.reads;
		instance->writes += event->segment.writes;
		instance->left_out += event->segment.left_out;
		instance->flags |= event->segment.flags;
		if (sections->listener->segment)
			sections->listener->segment(sections->listener->data, instance, event);
	}
}

/* --- operations ------------------------------------------------------------------------------- */

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct pp_access_sections *sections = data;
	const struct pp_hold *hold;
	GArray *all;
	int at;

	if (!acquired || !pp_object_is_lock(object))
		return;
	hold = pp_object_hold(object, operation->thread);
	all = open_of(sections, operation->thread);
	at = find_open(all, object);
	sections->now_ns = MAX(sections->now_ns, operation->end_ns);
	if (!hold || (at >= 0 && hold->depth > 1))
		return;
	if (at >= 0)
		leave(sections, all, (guint)at, operation->end_ns, true);
	enter(sections, object, operation, hold);
}

static void on_released(void *data, struct pp_object *object, const struct pp_hold *hold,
			int64_t end_ns, const struct pp_operation *operation)
{
	struct pp_access_sections *sections = data;
	GArray *all = open_of(sections, hold->thread);
	int at = find_open(all, object);

	sections->now_ns = MAX(sections->now_ns, end_ns);
	if (at >= 0)
		leave(sections, all, (guint)at, end_ns, operation == NULL);
}

static void on_dropped(void *data, struct pp_object *object, const struct pp_thread *thread)
{
	struct pp_access_sections *sections = data;
	GArray *all = open_of(sections, thread);
	int at = find_open(all, object);

	if (at >= 0)
		leave(sections, all, (guint)at, sections->now_ns, true);
}

static bool on_fold(void *data, struct pp_object *object, struct pp_object *group)
{
	const struct pp_access_listener *listener = ((struct pp_access_sections *)data)->listener;

	return listener->fold(listener->data, object, group);
}

/* --- public functions ------------------------------------------------------------------------- */

struct pp_access_sections *pp_access_sections_new(const struct pp_pass_context *context,
						  const struct pp_access_listener *listener)
{
	struct pp_access_sections *sections = g_new0(struct pp_access_sections, 1);

	sections->listener = listener;
	sections->now_ns = pp_model_origin(context->model);
	sections->threads = g_ptr_array_new_with_free_func(free_open);
	sections->active = g_ptr_array_new();
	sections->empty = pp_access_set_get(context->model->access_sets, NULL, 0);
	sections->object_listener = (struct pp_object_listener){
	    .data = sections,
	    .operation = on_operation,
	    .released = on_released,
	    .dropped = on_dropped,
	    .fold = listener->fold ? on_fold : NULL,
	    .compare = listener->compare,
	    .context = context,
	};
	pp_objects_init(&sections->objects, &sections->object_listener, NULL);
	sections->thread_listener = pp_objects_feed(&sections->objects);
	sections->states = pp_thread_states_share(context, &sections->thread_listener);
	return sections;
}

void pp_access_sections_free(struct pp_access_sections *sections, GDestroyNotify free_data)
{
	pp_thread_states_free(sections->states);
	pp_objects_done(&sections->objects, free_data);
	g_ptr_array_unref(sections->active);
	g_ptr_array_unref(sections->threads);
	pp_access_set_unref(sections->empty);
	g_free(sections);
}

/* --- the end of lives ------------------------------------------------------------------------- */

/* A new reference to the set of all these bytes, as written; NULL: too many. */
static struct pp_access_set *freed_bytes(const struct pp_access_sections *sections,
					 uint64_t address, uint64_t size)
{
	uint64_t first = address & ~(uint64_t)(ST_LINE_BYTES - 1), n;
	g_autofree struct pp_access_line *lines = NULL;

	if (!size || size > FREED_LINES_MAX * ST_LINE_BYTES || address > UINT64_MAX - 2 * size)
		return NULL;
	n = (address + size - first + ST_LINE_BYTES - 1) / ST_LINE_BYTES;
	lines = g_new0(struct pp_access_line, n);
	for (uint64_t i = 0; i < n; i++) {
		lines[i].address = first + i * ST_LINE_BYTES;
		lines[i].written = lines[i].changed =
		    pp_access_bytes_in(lines[i].address, address, address + size);
	}
	return pp_access_set_get(sections->empty->owner, lines, (unsigned)n);
}

/* Moves the set's part in these bytes to the ended set.  freed: bytes that the instance frees. */
static void end_part(const struct pp_access_listener *listener, struct pp_access_instance *instance,
		     uint64_t address, uint64_t size, struct pp_access_set *freed)
{
	struct pp_access_set *set = instance->set, *ended = instance->ended_set, *part;
	struct pp_access_instance lent = *instance;

	if (!pp_access_set_overlaps(set, address, size) && !freed->n)
		return;
	lent.set = part = pp_access_set_within(set, address, size);
	lent.freed_set = freed;
	if (listener->freed_within)
		listener->freed_within(listener->data, &lent);
	instance->set = pp_access_set_without(set, address, size);
	instance->ended_set = pp_access_set_union(ended, part);
	pp_access_set_unref(set);
	pp_access_set_unref(ended);
	pp_access_set_unref(part);
}

/* The thread frees a block in its open instances. */
static void end_own_parts(const struct pp_access_sections *sections, const GArray *open,
			  uint64_t address, uint64_t size)
{
	struct pp_access_set *freed = freed_bytes(sections, address, size);

	for (guint i = 0; i < open->len; i++) {
		struct pp_access_instance *instance = &open_at(open, i)->instance;
		struct pp_access_set *before = instance->freed_set;

		end_part(sections->listener, instance, address, size, freed ?: sections->empty);
		instance->left_out += !freed && size;
		instance->freed_set = pp_access_set_union(before, freed ?: sections->empty);
		pp_access_set_unref(before);
	}
	pp_access_set_unref(freed);
}

static void end_parts(const struct pp_access_sections *sections, const struct pp_thread *thread,
		      uint64_t address, uint64_t size)
{
	for (guint i = 0; i < sections->active->len; i++) {
		const GArray *open = sections->active->pdata[i];
		const struct pp_thread *other = open_at(open, 0)->instance.thread;

		if (other == thread) {
			end_own_parts(sections, open, address, size);
			continue;
		}
		for (guint k = 0; k < open->len && other->process == thread->process; k++)
			end_part(sections->listener, &open_at(open, k)->instance, address, size,
				 sections->empty);
	}
}

static void on_heap(const struct pp_access_sections *sections, const struct pp_event *event)
{
	const struct pp_process *process = event->thread ? event->thread->process : NULL;
	const struct pp_access_listener *listener = sections->listener;

	if (!process)
		return;
	if (event->kind == PP_EVENT_HEAP_BLOCK && listener->block)
		listener->block(listener->data, process, event->heap.address, event->heap.size,
				event->heap.site);
	if (event->kind == PP_EVENT_HEAP_FREED)
		end_parts(sections, event->thread, event->heap.address, event->heap.size);
	if (event->kind == PP_EVENT_HEAP_FREED && listener->freed)
		listener->freed(listener->data, process, event->heap.address, event->heap.size);
	if (event->kind == PP_EVENT_HEAP_FREED && listener->freed_by)
		listener->freed_by(listener->data, event->thread, event->heap.address,
				   event->heap.size, event->time_ns);
}

void pp_access_sections_event(struct pp_access_sections *sections, const struct pp_event *event)
{
	switch (event->kind) {
	case PP_EVENT_SEGMENT:
		if (event->thread)
			add_segment(sections, event);
		break;
	case PP_EVENT_HEAP_BLOCK:
	case PP_EVENT_HEAP_FREED:
		on_heap(sections, event);
		break;
	default:
		pp_thread_states_event(sections->states, event);
		break;
	}
}

void pp_access_sections_finish(struct pp_access_sections *sections, int64_t end_ns)
{
	pp_thread_states_finish(sections->states, end_ns);
	pp_objects_finish(&sections->objects, end_ns);
}

const struct pp_objects *pp_access_sections_objects(const struct pp_access_sections *sections)
{
	return &sections->objects;
}
