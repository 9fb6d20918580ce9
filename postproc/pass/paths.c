/* SPDX-License-Identifier: MIT */
/*
 * Call paths of long waits, and of the operations that woke other threads: by object, operation and
 * call path.  Only operations with a recorded path are included (events.h, call_path).  Blocking
 * calls are included, too: by function and call path, for all their descriptors.
 * In a table of their own are the sampled acquisitions, which did not wait: it shows by which paths
 * the program takes its locks at all.
 */
#include "pass/paths.h"

#include "analysis/select.h"
#include "analysis/state/thread_state.h"
#include "analysis/paths/frames.h"
#include "pass/paths_sums.h"

static guint use_hash(const void *data)
{
	const struct pp_paths_use *use = data;

	return g_direct_hash(use->place ? (const void *)use->place : use->process) ^
	       g_direct_hash(use->path) * 31 ^ use->op;
}

static gboolean use_equal(const void *a, const void *b)
{
	const struct pp_paths_use *x = a, *y = b;

	return x->place == y->place && x->process == y->process && x->path == y->path &&
	       x->op == y->op && x->is_sample == y->is_sample;
}

static void use_free(void *data)
{
	struct pp_paths_use *use = data;

	pp_idle_sums_done(&use->idle);
	g_free(use);
}

static void place_free(void *data)
{
	struct pp_paths_place *place = data;

	pp_idle_object_free(place->idle);
	if (place->is_copy)
		g_free(place->object);
	g_free(place);
}

static struct pp_paths_place *place_of(struct pp_object *object)
{
	struct pp_paths_place *place = object->data;

	if (!place) {
		place = object->data = g_new0(struct pp_paths_place, 1);
		place->object = object;
	}
	return place;
}

/* The last arrival at a barrier, which does not wait either, ends the waits of others. */
static bool is_sample(enum st_event op, bool waited)
{
	return !waited && pp_sync_has(op, PP_SYNC_ACQUIRES) && !pp_sync_has(op, PP_SYNC_PASSES);
}

static struct pp_paths_use *use_of(struct pp_paths *self, const struct pp_paths_use *key)
{
	struct pp_paths_use *use = g_hash_table_lookup(self->uses, key);

	if (use)
		return use;
	use = g_memdup2(key, sizeof(*key));
	use->serial = g_hash_table_size(self->uses);
	g_hash_table_add(self->uses, use);
	if (use->place)
		use->place->is_used = true;
	return use;
}

static void add_time(struct pp_paths_use *use, bool counts, int64_t wait_ns)
{
	use->calls += counts;
	use->wait_ns += wait_ns;
	use->wait_max_ns = MAX(use->wait_max_ns, wait_ns);
}

static void on_waits(void *data, struct pp_object *object, const struct pp_operation *operation)
{
	struct pp_paths *self = data;

	pp_idle_waits(&self->idle, object, operation);
}

static void on_released(void *data, struct pp_object *object, const struct pp_hold *hold,
			int64_t end_ns, const struct pp_operation *operation)
{
	struct pp_paths *self = data;
	const struct pp_operation acquired = {
	    .thread = hold->thread,
	    .op = hold->op,
	    .site = hold->site,
	    .begin_ns = hold->since_ns - hold->wait_ns,
	    .end_ns = hold->since_ns,
	};
	const struct pp_paths_use key = {
	    .place = place_of(object),
	    .process = object->process,
	    .path = hold->path,
	    .op = hold->op,
	    .is_sample = is_sample(hold->op, hold->waited),
	    .site = hold->site,
	};
	int64_t hold_ns = pp_selected_ns(self->context, hold->since_ns, end_ns);

	(void)operation;
	pp_idle_released(&self->idle, object, hold, end_ns);
	/* The path of a condition wait is that of its condition. */
	if (hold->path && hold_ns && object->type == pp_sync_type(hold->op) &&
	    pp_selects_operation(self->context, &acquired))
		use_of(self, &key)->hold_ns += hold_ns;
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct pp_paths *self = data;
	struct pp_paths_place *place = place_of(object);
	int64_t wait_ns = pp_selected_ns(self->context, operation->begin_ns, operation->end_ns);
	bool counts = pp_selects_time(self->context, operation->end_ns);
	struct pp_paths_use *use;
	struct pp_paths_use key = {
	    .place = place,
	    .process = object->process,
	    .path = operation->path,
	    .op = operation->op,
	    .is_sample = is_sample(operation->op, operation->waited),
	    .site = operation->site,
	};

	place->is_awaited |= operation->op == ST_EVENT_thread_join && operation->waited &&
			     operation->finished && operation->result == 0;
	pp_idle_operation(&self->idle, &place->idle, object, operation, acquired);
	/* The second call for a condition wait, for its mutex. */
	if (!operation->path || object->type != pp_sync_type(operation->op) ||
	    (!counts && !wait_ns) || !pp_selects_operation(self->context, operation))
		return;
	use = use_of(self, &key);
	add_time(use, counts, wait_ns);
	pp_idle_add(&self->idle, place->idle, &use->idle, object, operation, counts, wait_ns);
}

static void on_io_begin(void *data, const struct pp_io *io)
{
	const struct pp_paths *self = pp_objects_owner(data);

	pp_idle_io_begin(&self->idle, io);
}

static void on_io(void *data, const struct pp_io *io)
{
	struct pp_paths *self = pp_objects_owner(data);
	int64_t wait_ns = pp_selected_ns(self->context, io->begin_ns, io->end_ns);
	bool counts = pp_selects_time(self->context, io->end_ns);
	const struct pp_paths_use key = {
	    .process = io->thread->process,
	    .path = io->path,
	    .op = pp_io_op(io->call),
	    .site = io->site,
	    .io = {.fd = io->fd, .object = io->object},
	};
	struct pp_paths_use *use;

	if (!io->path || (!counts && !wait_ns) || pp_selects_by(self->context, PP_SELECT_OBJECT) ||
	    !pp_selects_call(self->context, io->thread, pp_io_name(io->call), io->site,
			     io->end_ns - io->begin_ns))
		return;
	use = use_of(self, &key);
	add_time(use, counts, wait_ns);
	use->idle_ns += pp_idle_io_ns(&self->idle, io, wait_ns);
	use->io.is_mixed |= use->io.object != io->object;
}

/* Keeps the object if it has a use. */
static bool on_end(void *data, struct pp_object *object, struct pp_object *group)
{
	struct pp_paths *self = data;
	struct pp_paths_place *place = g_steal_pointer(&object->data);

	(void)group;
	pp_idle_forget(&self->idle, object);
	if (!place)
		return false;
	if (!place->is_used) {
		place_free(place);
		return false;
	}
	place->object = g_memdup2(object, sizeof(*object));
	place->object->holds = place->object->waiters = NULL;
	place->is_copy = true;
	g_ptr_array_add(self->ended, place);
	return true;
}

static void *paths_start(const struct pp_pass_context *context)
{
	struct pp_paths *self = g_new0(struct pp_paths, 1);

	self->context = context;
	self->thread_listener = pp_objects_feed(&self->objects);
	self->thread_listener.io_begin = on_io_begin;
	self->thread_listener.io = on_io;
	self->object_listener = (struct pp_object_listener){
	    .data = self,
	    .waits = on_waits,
	    .operation = on_operation,
	    .released = on_released,
	    .fold = on_end,
	};
	self->ended = g_ptr_array_new_with_free_func(place_free);
	self->uses = g_hash_table_new_full(use_hash, use_equal, use_free, NULL);
	pp_idle_init(&self->idle, context);
	pp_objects_init(&self->objects, &self->object_listener, NULL);
	self->states = pp_thread_states_new(context, &self->thread_listener, NULL);
	return self;
}

static void paths_event(void *state, const struct pp_event *event)
{
	struct pp_paths *self = state;

	pp_thread_states_event(self->states, event);
}

char *pp_path_text(const struct pp_path *path, const struct pp_process *process,
		   const struct pp_namer *namer)
{
	g_autoptr(GArray) frames = pp_path_frames(path, process, namer);

	return pp_path_frames_text(frames, NULL);
}

static void paths_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct pp_paths *self = state;

	pp_thread_states_finish(self->states, end_ns);
	g_ptr_array_add(tables, pp_paths_waits_table(self));
	g_ptr_array_add(tables, pp_paths_samples_table(self));
}

static void paths_free(void *state)
{
	struct pp_paths *self = state;

	g_hash_table_unref(self->uses);
	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, place_free);
	g_ptr_array_unref(self->ended);
	pp_idle_done(&self->idle);
	g_free(self);
}

const struct pp_pass pp_pass_paths = {
    .name = "paths",
    .summary = "call paths to waits",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_ALL,
    .has_operations = true,
    .start = paths_start,
    .event = paths_event,
    .finish = paths_finish,
    .free = paths_free,
};
