/* SPDX-License-Identifier: MIT */
/*
 * Builds an index from events.  During the sweep, operations are appended in the order in which
 * they return, and state changes go to a log.  At the end, both are grouped by thread and by object
 * with a counting sort (arrange.c).
 *
 * Matching operations are found during the sweep: an object knows the acquisitions that hold it
 * (opens.h), and a release refers to the acquisition that it ends.
 */
#include "index/build.h"

#include <string.h>

#include "index/arrange.h"
#include "index/opens.h"
#include "index/process_numbers.h"
#include "analysis/graph/call_sites.h"
#include "analysis/state/object_refs.h"

/* Real clocks never reach this; damaged streams may. */
#define MAX_TIME_NS (INT64_C(1) << 60)

struct object_track { /* struct pp_object.data */
	struct pp_opens opens;
	int64_t hold_ns, wait_ns;
	uint64_t acquired, contended;
	uint8_t state;
	bool begun;
	uint64_t last_ns;
};

struct thread_track {
	uint8_t state;
	bool begun;
};

/* The hold that the current operation ended. */
struct ended {
	const struct pp_object *object;
	uint32_t operation; /* the acquisition that began it; PP_INDEX_NONE: no such hold */
	int64_t ns;
};

struct pp_index_builder {
	const struct pp_pass_context *context;
	struct pp_index *index;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	struct pp_wait_ends ends;
	struct pp_call_sites sites;
	GHashTable *paths; /* const struct pp_path * -> number + 1 */
	struct pp_process_numbers processes;
	GArray *threads; /* of struct thread_track, indexed by serial */
	struct ended ended;
	struct pp_mapped_array thread_log, object_log; /* of struct pp_logged_step */
	int64_t last_ns;
};

static struct pp_mapped_array *section(struct pp_index_builder *self, enum pp_section which)
{
	return &self->index->sections[which];
}

static uint64_t time_of(int64_t time_ns)
{
	return (uint64_t)CLAMP(time_ns, 0, MAX_TIME_NS);
}

/* --- lanes ---------------------------------------------------------------------------------- */

static void log_step(struct pp_mapped_array *log, uint32_t lane, uint64_t time_ns, unsigned state)
{
	struct pp_logged_step *step = pp_mapped_array_add(log, 1);

	step->step = time_ns << 3 | state;
	step->lane = lane;
}

static void on_interval(void *data, const struct pp_interval *interval)
{
	struct pp_index_builder *self = pp_objects_owner(data);
	unsigned serial = interval->thread->serial;
	struct thread_track *track;

	if (serial >= self->threads->len)
		g_array_set_size(self->threads, serial + 1);
	track = &g_array_index(self->threads, struct thread_track, serial);
	if (track->begun && track->state == interval->mode)
		return;
	track->begun = true;
	track->state = (uint8_t)interval->mode;
	log_step(&self->thread_log, serial, time_of(interval->start_ns), interval->mode);
}

static enum pp_object_mode mode_of(const struct pp_object *object)
{
	for (guint i = 0; i < pp_object_n_holds(object); i++)
		if (g_array_index(object->holds, struct pp_hold, i).superseded_ns ==
		    PP_TIME_UNKNOWN)
			return pp_object_n_waiters(object) ? PP_OBJECT_CONTENDED : PP_OBJECT_HELD;
	return pp_object_n_waiters(object) ? PP_OBJECT_WAITED : PP_OBJECT_FREE;
}

static struct object_track *track_of(struct pp_object *object)
{
	if (!object->data)
		object->data = g_new0(struct object_track, 1);
	return object->data;
}

static void step_object(struct pp_index_builder *self, struct pp_object *object, int64_t now_ns)
{
	struct object_track *track = track_of(object);
	unsigned state = object->ended ? PP_LANE_GONE : mode_of(object);
	uint64_t time_ns = MAX(time_of(now_ns), track->last_ns);

	if (track->begun && track->state == state)
		return;
	track->begun = true;
	track->state = (uint8_t)state;
	track->last_ns = time_ns;
	log_step(&self->object_log, pp_object_number(object), time_ns, state);
}

/* --- operations ----------------------------------------------------------------------------- */

static uint32_t number_of_path(struct pp_index_builder *self, const struct pp_path *path)
{
	uint32_t number;
	struct pp_index_run *run;

	if (!path)
		return PP_INDEX_NONE;
	number = GPOINTER_TO_UINT(g_hash_table_lookup(self->paths, path));
	if (number)
		return number - 1;
	run = pp_mapped_array_add(section(self, PP_SECTION_PATHS), 1);
	run->first = section(self, PP_SECTION_ADDRESSES)->n;
	run->n = path->n;
	memcpy(pp_mapped_array_add(section(self, PP_SECTION_ADDRESSES), path->n), path->addresses,
	       path->n * sizeof(path->addresses[0]));
	number = (uint32_t)section(self, PP_SECTION_PATHS)->n;
	g_hash_table_insert(self->paths, (void *)path, GUINT_TO_POINTER(number));
	return number - 1;
}

/* Returns PP_INDEX_NONE if all numbers are used. */
static uint32_t add_operation(struct pp_index_builder *self, const struct pp_object *object,
			      const struct pp_operation *operation, enum st_event op,
			      int64_t time_ns, unsigned flags)
{
	struct pp_mapped_array *operations = section(self, PP_SECTION_OPERATIONS);
	struct pp_index_operation *new;

	if (operations->n >= PP_INDEX_NONE) {
		self->index->n_left_out++;
		return PP_INDEX_NONE;
	}
	new = pp_mapped_array_add(operations, 1);
	*new = (struct pp_index_operation){
	    .time_ns = time_of(time_ns),
	    .thread = operation->thread->serial,
	    .object = pp_object_number(object),
	    .site = operation->site
			? pp_call_sites_number(&self->sites,
					       (struct pp_call_site){operation->thread->process,
								     operation->site, op})
			: PP_INDEX_NONE,
	    .mate = PP_INDEX_NONE,
	    .op = (uint8_t)op,
	    .result = operation->result,
	    .flags = (uint16_t)flags,
	};
	return (uint32_t)operations->n - 1;
}

/* If its begin is unknown, so is the time in which it blocked. */
static void on_io(void *data, const struct pp_io *io)
{
	struct pp_index_builder *self = pp_objects_owner(data);
	struct pp_index_call *call;

	if (!io->blocked_known)
		return;
	call = pp_mapped_array_add(section(self, PP_SECTION_CALLS), 1);
	*call = (struct pp_index_call){
	    .begin_ns = time_of(io->begin_ns),
	    .end_ns = time_of(io->end_ns),
	    .thread = io->thread->serial,
	    .site = io->site
			? pp_call_sites_number(&self->sites,
					       (struct pp_call_site){io->thread->process, io->site,
								     pp_io_op(io->call)})
			: PP_INDEX_NONE,
	    .path = number_of_path(self, io->path),
	    .call = io->call,
	};
}

static struct pp_index_operation *operation_at(struct pp_index_builder *self, uint32_t number)
{
	return pp_mapped_array_at(section(self, PP_SECTION_OPERATIONS), number);
}

static struct pp_index_more *add_more(struct pp_index_builder *self, uint32_t number)
{
	struct pp_mapped_array *array = section(self, PP_SECTION_MORE);
	struct pp_index_operation *operation = operation_at(self, number);
	struct pp_index_more *more;

	more = pp_mapped_array_add(array, 1);
	*more = (struct pp_index_more){
	    .operation = number,
	    .other = PP_INDEX_NONE,
	    .acquisition = PP_INDEX_NONE,
	    .path = PP_INDEX_NONE,
	    .how = PP_WAIT_NOT_KNOWN,
	    .call = PP_INDEX_NONE,
	};
	operation->flags |= PP_INDEX_MORE;
	operation->more = (uint32_t)array->n - 1;
	return more;
}

static void join(struct pp_index_builder *self, uint32_t a, uint32_t b)
{
	if (a == PP_INDEX_NONE || b == PP_INDEX_NONE)
		return;
	operation_at(self, a)->mate = b;
	operation_at(self, b)->mate = a;
}

/* --- holds ---------------------------------------------------------------------------------- */

static void note_acquisition(struct pp_object *object, const struct pp_operation *operation,
			     uint32_t number)
{
	const struct pp_hold *hold = pp_object_hold(object, operation->thread);

	if (hold && (hold->depth > 1 || hold->since_ns == operation->end_ns))
		pp_opens_add(&track_of(object)->opens, operation->thread, hold->depth, number);
}

static void on_released(void *data, struct pp_object *object, const struct pp_hold *hold,
			int64_t end_ns, const struct pp_operation *operation)
{
	struct pp_index_builder *self = data;
	uint32_t open = pp_opens_end(&track_of(object)->opens, hold->thread);

	track_of(object)->hold_ns += end_ns - hold->since_ns;
	if (operation)
		self->ended = (struct ended){object, open, end_ns - hold->since_ns};
	else
		*(struct pp_index_hold *)pp_mapped_array_add(section(self, PP_SECTION_ENDLESS), 1) =
		    (struct pp_index_hold){hold->since_ns, end_ns, hold->thread->serial,
					   pp_object_number(object)};
	step_object(self, object, end_ns);
}

/*
 * Handles an operation that may be the release of the hold that just ended, or of one of its
 * levels.
 */
static void settle_hold(struct pp_index_builder *self, struct pp_object *object,
			const struct pp_thread *thread, uint32_t number)
{
	struct ended ended = self->ended;
	const struct pp_hold *hold = pp_object_hold(object, thread);
	struct pp_index_operation *operation;

	self->ended = (struct ended){NULL, PP_INDEX_NONE, 0};
	if (ended.object != object) {
		if (hold)
			join(self, number,
			     pp_opens_undo(&track_of(object)->opens, thread, hold->depth));
		return;
	}
	if (number == PP_INDEX_NONE)
		return;
	join(self, ended.operation, number);
	operation = operation_at(self, number);
	operation->flags |= PP_INDEX_RELEASED;
	if (ended.ns < UINT32_MAX)
		operation->more = (uint32_t)ended.ns;
	else
		add_more(self, number)->ns = (uint64_t)ended.ns;
}

static void on_yielded(void *data, struct pp_object *mutex, const struct pp_operation *operation)
{
	struct pp_index_builder *self = data;
	uint32_t number = add_operation(self, mutex, operation, pp_sync_begin(operation->op),
					operation->begin_ns, PP_INDEX_FINISHED | PP_INDEX_YIELDED);

	settle_hold(self, mutex, operation->thread, number);
	pp_wait_ends_release(&self->ends, mutex, operation->thread, number, operation->begin_ns);
	pp_wait_ends_call(&self->ends, operation->thread, number);
	step_object(self, mutex, operation->begin_ns);
}

/* --- waits ---------------------------------------------------------------------------------- */

static void on_waits(void *data, struct pp_object *object, const struct pp_operation *operation)
{
	struct pp_index_builder *self = data;
	const struct pp_hold *hold;
	struct pp_wait_other owner = {
	    .thread = pp_wait_owner(&self->ends, object, operation, &hold),
	    .mark = hold ? pp_opens_first(&track_of(object)->opens, hold->thread) : PP_INDEX_NONE,
	};

	pp_wait_ends_begin(&self->ends, object, operation, owner);
	step_object(self, object, operation->begin_ns);
}

/* Returns the mark if it refers to the same object; otherwise it belongs to an unrelated call. */
static uint32_t mark_on(struct pp_index_builder *self, const struct pp_object *object,
			uint32_t mark)
{
	return mark != PP_INDEX_NONE && operation_at(self, mark)->object == pp_object_number(object)
		   ? mark
		   : PP_INDEX_NONE;
}

static void settle_wait(struct pp_index_builder *self, struct pp_object *object,
			const struct pp_operation *operation, uint32_t number)
{
	struct object_track *track = track_of(object);
	struct pp_wait_other other;
	enum pp_wait_how how = pp_wait_ends_settle(&self->ends, object, operation, &other);
	int64_t wait_ns = operation->end_ns - operation->begin_ns;
	struct pp_index_more *more;
	uint32_t mark = mark_on(self, object, other.mark);

	track->contended++;
	track->wait_ns += wait_ns;
	if (number == PP_INDEX_NONE)
		return;
	more = add_more(self, number);
	more->ns = (uint64_t)wait_ns;
	more->other = other.thread ? other.thread->serial : PP_INDEX_NONE;
	more->how = how;
	more->call = other.mark;
	if (how == PP_WAIT_HELD)
		more->acquisition = mark;
	else if (mark != PP_INDEX_NONE && operation_at(self, mark)->mate == PP_INDEX_NONE)
		join(self, number, mark);
	else
		operation_at(self, number)->mate = mark;
}

/* Adds the data that does not fit into the operation itself. */
static void add_rest(struct pp_index_builder *self, const struct pp_operation *operation,
		     uint32_t number)
{
	struct pp_index_operation *added = operation_at(self, number);
	bool has_value = operation->value != 0;
	struct pp_index_more *more;

	if (!(added->flags & PP_INDEX_MORE)) {
		uint64_t ns = added->more;

		if (!has_value && !operation->path)
			return;
		more = add_more(self, number);
		more->ns = ns;
	} else {
		more = pp_mapped_array_at(section(self, PP_SECTION_MORE), added->more);
	}
	more->value = operation->value;
	more->path = number_of_path(self, operation->path);
}

static unsigned flags_of(const struct pp_index_builder *self, const struct pp_object *object,
			 const struct pp_operation *operation, bool acquired)
{
	bool regained = object->type != pp_sync_type(operation->op);
	unsigned flags = 0;

	if (operation->finished)
		flags |= PP_INDEX_FINISHED;
	if (acquired)
		flags |= PP_INDEX_ACQUIRED;
	if (regained)
		return flags | PP_INDEX_REGAINED;
	if (operation->waited)
		flags |= PP_INDEX_WAITED;
	if (pp_operation_blocked(self->states, operation))
		flags |= PP_INDEX_BLOCKED;
	return flags;
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct pp_index_builder *self = data;
	unsigned flags = flags_of(self, object, operation, acquired);
	int64_t time_ns = operation->finished ? operation->end_ns : operation->begin_ns;
	uint32_t number = add_operation(self, object, operation, operation->op, time_ns, flags);

	track_of(object)->acquired += acquired;
	if (acquired)
		note_acquisition(object, operation, number);
	if (pp_operation_releases(operation))
		pp_wait_ends_release(&self->ends, object, operation->thread, number,
				     operation->end_ns);
	if (!acquired)
		settle_hold(self, object, operation->thread, number);
	self->ended = (struct ended){NULL, PP_INDEX_NONE, 0};
	if (flags & PP_INDEX_WAITED)
		settle_wait(self, object, operation, number);
	if (number != PP_INDEX_NONE && !(flags & PP_INDEX_REGAINED))
		add_rest(self, operation, number);
	pp_wait_ends_call(&self->ends, operation->thread, number);
	step_object(self, object, operation->end_ns);
}

/* --- objects -------------------------------------------------------------------------------- */

/* Objects are added in order of their end, to the positions of their numbers. */
static struct pp_index_object *place_of(struct pp_index_builder *self, uint32_t number)
{
	struct pp_mapped_array *objects = section(self, PP_SECTION_OBJECTS);

	if (objects->n <= number)
		pp_mapped_array_add(objects, number + 1 - objects->n);
	return pp_mapped_array_at(objects, number);
}

static void add_object(struct pp_index_builder *self, struct pp_object *object)
{
	const struct object_track *track = track_of(object);

	*place_of(self, pp_object_number(object)) = (struct pp_index_object){
	    .address = object->address,
	    .load_id = object->load_id,
	    .init_site = object->init_site,
	    .first_site = object->first_site,
	    .acquired = track->acquired,
	    .contended = track->contended,
	    .wait_ns = track->wait_ns,
	    .hold_ns = track->hold_ns,
	    .process = pp_process_number(&self->processes, object->process),
	    .generation = object->generation,
	    .subject = object->subject ? object->subject->serial : PP_INDEX_NONE,
	    .type = object->type,
	};
	if (track->begun && track->state != PP_LANE_GONE)
		log_step(&self->object_log, pp_object_number(object), PP_LOGGED_AT_END,
			 PP_LANE_GONE);
}

static void object_track_free(void *data)
{
	struct object_track *track = data;

	pp_opens_done(&track->opens);
	g_free(track);
}

static bool on_end(void *data, struct pp_object *object, struct pp_object *group)
{
	struct pp_index_builder *self = data;

	(void)group;
	pp_wait_ends_forget(&self->ends, object);
	add_object(self, object);
	object_track_free(g_steal_pointer(&object->data));
	return true;
}

/* --- creation and release ------------------------------------------------------------------- */

static void listen(struct pp_index_builder *self)
{
	self->thread_listener = pp_objects_feed(&self->objects);
	self->thread_listener.interval = on_interval;
	self->thread_listener.io = on_io;
	self->object_listener = (struct pp_object_listener){
	    .data = self,
	    .waits = on_waits,
	    .operation = on_operation,
	    .released = on_released,
	    .yielded = on_yielded,
	    .fold = on_end,
	};
}

struct pp_index_builder *pp_index_builder_new(const struct pp_pass_context *context,
					      struct pp_model *model, const int *fds)
{
	struct pp_index_builder *self = g_new0(struct pp_index_builder, 1);

	self->context = context;
	self->index = pp_index_new(model, fds);
	self->index->has_kernel = context->has_kernel;
	self->ended.operation = PP_INDEX_NONE;
	self->paths = g_hash_table_new(NULL, NULL);
	pp_process_numbers_init(&self->processes, self->index);
	self->threads = g_array_new(FALSE, TRUE, sizeof(struct thread_track));
	pp_mapped_array_init(&self->thread_log, sizeof(struct pp_logged_step),
			     fds ? fds[PP_N_SECTIONS] : -1);
	pp_mapped_array_init(&self->object_log, sizeof(struct pp_logged_step),
			     fds ? fds[PP_N_SECTIONS + 1] : -1);
	listen(self);
	pp_call_sites_init(&self->sites);
	pp_wait_ends_init(&self->ends, model);
	pp_objects_init(&self->objects, &self->object_listener, NULL);
	self->states = pp_thread_states_new(context, &self->thread_listener, NULL);
	return self;
}

static void add_sample(struct pp_index_builder *self, const struct pp_event *event)
{
	struct pp_index_sample *sample;

	if (!event->thread)
		return;
	sample = pp_mapped_array_add(section(self, PP_SECTION_SAMPLES), 1);
	*sample = (struct pp_index_sample){.time_ns = time_of(event->time_ns),
					   .weight_ns = event->sample.weight_ns,
					   .thread = event->thread->serial,
					   .path = number_of_path(self, event->sample.path)};
}

void pp_index_builder_event(struct pp_index_builder *self, const struct pp_event *event)
{
	if (event->kind != PP_EVENT_UNSEEN) {
		self->index->n_events++;
		self->last_ns = event->time_ns;
	}
	if (event->kind == PP_EVENT_WAKING)
		pp_wait_ends_waking(&self->ends, event);
	if (event->kind == PP_EVENT_SAMPLE)
		add_sample(self, event);
	else
		pp_thread_states_event(self->states, event);
	if (self->index->n_events % PP_INDEX_RELEASE == 0)
		pp_index_release(self->index);
}

uint64_t pp_index_builder_events(const struct pp_index_builder *self, int64_t *ret_last_ns)
{
	*ret_last_ns = self->last_ns;
	return self->index->n_events;
}

void pp_index_builder_free(struct pp_index_builder *self)
{
	if (!self)
		return;
	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, object_track_free);
	pp_wait_ends_done(&self->ends);
	pp_call_sites_done(&self->sites);
	g_hash_table_unref(self->paths);
	pp_process_numbers_done(&self->processes);
	g_array_unref(self->threads);
	pp_mapped_array_done(&self->thread_log);
	pp_mapped_array_done(&self->object_log);
	pp_index_free(self->index);
	g_free(self);
}

/* --- the end -------------------------------------------------------------------------------- */

static uint32_t add_text(struct pp_index_builder *self, enum pp_section which, const char *text)
{
	struct pp_mapped_array *texts = section(self, which);
	size_t len = strlen(text) + 1;
	uint64_t at = texts->n;

	if (at + len >= PP_INDEX_NONE)
		return PP_INDEX_NONE;
	memcpy(pp_mapped_array_add(texts, len), text, len);
	return (uint32_t)at;
}

static void add_thread(struct pp_index_builder *self, const struct pp_thread *thread)
{
	const struct pp_thread_state *life = pp_thread_state(self->states, thread);
	struct pp_index_thread *new = pp_mapped_array_add(section(self, PP_SECTION_THREADS), 1);
	bool seen = life && life->begun;

	*new = (struct pp_index_thread){
	    .start_ns = seen ? life->start_ns : 0,
	    .end_ns = seen ? life->end_ns : 0,
	    .process = pp_process_number(&self->processes, thread->process),
	    .tid = thread->tid,
	    .index = thread->index,
	    .name = add_text(self, PP_SECTION_TEXT,
			     pp_thread_name(thread) ? pp_thread_name(thread) : ""),
	    .flags =
		(seen ? PP_INDEX_SEEN : 0) | (seen && life->scheduled ? PP_INDEX_SCHEDULED : 0),
	};
	if (seen)
		log_step(&self->thread_log, thread->serial, time_of(life->end_ns), PP_LANE_GONE);
}

static void add_sites(struct pp_index_builder *self)
{
	for (guint i = 0; i < self->sites.all->len; i++) {
		const struct pp_call_site *site = pp_call_sites_at(&self->sites, i);
		struct pp_index_site *new = pp_mapped_array_add(section(self, PP_SECTION_SITES), 1);

		*new = (struct pp_index_site){
		    .address = site->site,
		    .process = pp_process_number(&self->processes, site->process),
		};
	}
}

void pp_index_builder_damage(struct pp_index_builder *self, const char *line)
{
	(void)add_text(self, PP_SECTION_DAMAGE, line);
}

struct pp_index *pp_index_builder_finish(struct pp_index_builder *self,
					 const struct pp_index_progress *progress)
{
	struct pp_index *index = self->index;
	const struct pp_model *model = index->model;

	pp_thread_states_finish(self->states, model->end_ns);
	pp_objects_finish(&self->objects, model->end_ns);
	index->start_ns = pp_model_origin(model);
	index->end_ns = MAX(model->end_ns, index->start_ns);
	pp_process_numbers_add(&self->processes);
	for (guint i = 0; i < model->threads->len; i++)
		add_thread(self, model->threads->pdata[i]);
	for (guint i = 0; i < self->objects.all->len; i++)
		if (self->objects.all->pdata[i])
			add_object(self, self->objects.all->pdata[i]);
	add_sites(self);
	if (!pp_index_arrange(index, &self->thread_log, &self->object_log, progress))
		return NULL;
	return g_steal_pointer(&self->index);
}
