/* SPDX-License-Identifier: MIT */
/* The callbacks of the state machines become steps: each operation ends one. */
#include "replay/build.h"
#include "replay/tracks.h"

#define TID_OF_IDLE 0 /* of the thread that runs on an idle CPU */

/* --- objects ---------------------------------------------------------------------------------- */

static struct mapped *mapped_of(struct pp_object *object)
{
	if (!object->data) {
		struct mapped *mapped = object->data = g_new0(struct mapped, 1);

		mapped->number = PP_BUILD_LATER;
	}
	return object->data;
}

static uint32_t object_number(struct pp_replay_builder *self, struct pp_object *object)
{
	struct mapped *mapped = mapped_of(object);

	if (mapped->number == PP_BUILD_LATER) {
		mapped->number = self->mapped->len;
		g_ptr_array_add(self->mapped, object);
	}
	return mapped->number;
}

static uint32_t add_operation(struct pp_replay_builder *self, struct track *track,
			      enum pp_replay_kind kind, struct pp_object *object, uint64_t site)
{
	return pp_build_step(track, (struct pp_replay_step){.kind = kind,
							    .object = object_number(self, object),
							    .site = pp_build_site(self, site)});
}

static enum pp_replay_kind lock_kind(const struct pp_object *object, const struct pp_hold *hold)
{
	if (hold->shared)
		return PP_REPLAY_RDLOCK;
	return object->type == GM_SYNC_TYPE_spin ? PP_REPLAY_LOCK_SPIN : PP_REPLAY_LOCK;
}

/* --- waits ------------------------------------------------------------------------------------ */

static void on_waits(void *data, struct pp_object *object, const struct pp_operation *operation)
{
	struct pp_replay_builder *self = data;
	const struct pp_hold *hold;
	struct pp_wait_other owner = {pp_wait_owner(&self->ends, object, operation, &hold),
				      PP_MARK_NONE};
	struct track *track = pp_build_track_until(self, operation->thread, operation->begin_ns);

	mapped_of(object)->n_waiting++;
	pp_contention_waits(&track->contender, pp_object_is_lock(object));
	pp_wait_ends_begin(&self->ends, object, operation, owner);
}

/* Adds a wait for what ended it when it was recorded. */
static void add_wait(struct pp_replay_builder *self, struct track *track, struct pp_object *object,
		     const struct pp_operation *operation)
{
	struct pp_wait_other other;
	enum pp_wait_how how = pp_wait_ends_settle(&self->ends, object, operation, &other);
	struct pp_replay_step step = {.kind = PP_REPLAY_AWAIT,
				      .site = pp_build_site(self, operation->site)};
	bool is_join = operation->op == ST_EVENT_thread_join;

	if (how == PP_WAIT_ENDLESS)
		return;
	if (other.thread && other.thread != operation->thread &&
	    (is_join || other.mark != PP_MARK_NONE)) {
		step.of.thread = other.thread->serial;
		step.of.step = is_join ? PP_BUILD_LATER : other.mark;
		pp_build_step(track, step);
		return;
	}
	if (how != PP_WAIT_TIMED_OUT) {
		self->gaps.unknown_waits++;
		self->gaps.filled_ns += operation->end_ns - operation->begin_ns;
	}
	pp_build_sleep(track, operation->end_ns - operation->begin_ns);
}

static void settle_only(struct pp_replay_builder *self, struct pp_object *object,
			const struct pp_operation *operation)
{
	struct pp_wait_other other;

	pp_wait_ends_settle(&self->ends, object, operation, &other);
}

/* --- operations ------------------------------------------------------------------------------- */

static void note_release(struct pp_replay_builder *self, const struct pp_object *object,
			 const struct pp_thread *thread, uint32_t step, int64_t at_ns)
{
	pp_wait_ends_release(&self->ends, object, thread, step, at_ns);
	pp_wait_ends_call(&self->ends, thread, step);
}

static void on_yielded(void *data, struct pp_object *mutex, const struct pp_operation *operation)
{
	struct pp_replay_builder *self = data;
	struct track *track = pp_build_track_until(self, operation->thread, operation->begin_ns);
	uint32_t step = add_operation(self, track, PP_REPLAY_UNLOCK, mutex, operation->site);

	note_release(self, mutex, operation->thread, step, operation->begin_ns);
}

static void on_released(void *data, struct pp_object *object, const struct pp_hold *hold,
			int64_t end_ns, const struct pp_operation *operation)
{
	struct pp_replay_builder *self = data;
	struct track *track;
	uint32_t step;

	if (!pp_object_is_lock(object) || (operation && pp_sync_has(operation->op, PP_SYNC_YIELDS)))
		return;
	track = pp_build_track_until(self, hold->thread, end_ns);
	step =
	    add_operation(self, track, PP_REPLAY_UNLOCK, object, operation ? operation->site : 0);
	pp_contention_released(&track->contender,
			       operation ? pp_build_site(self, operation->site) : PP_REPLAY_NO_SITE,
			       mapped_of(object)->n_waiting != 0, end_ns);
	note_release(self, object, hold->thread, step, end_ns);
}

static void on_lock(struct pp_replay_builder *self, struct track *track, struct pp_object *object,
		    const struct pp_operation *operation, bool acquired)
{
	const struct pp_hold *hold = acquired ? pp_object_hold(object, operation->thread) : NULL;
	uint32_t step;

	if (hold && hold->depth <= 1) {
		step = add_operation(self, track, lock_kind(object, hold), object, operation->site);
		g_array_index(track->steps, struct pp_replay_step, step).tries =
		    pp_sync_has(operation->op, PP_SYNC_TRIES);
		pp_replay_numbers_add(self->numbers, object_number(self, object), operation->order,
				      hold->shared, track->steps, step);
	} else if (!acquired && operation->waited && operation->finished) {
		pp_build_sleep(track, operation->end_ns - operation->begin_ns); /* it timed out */
	}
}

static void on_semaphore(struct pp_replay_builder *self, struct track *track,
			 struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct mapped *mapped = mapped_of(object);

	if (acquired) {
		mapped->value--;
		mapped->least = MIN(mapped->least, mapped->value);
		add_operation(self, track, PP_REPLAY_SEM_WAIT, object, operation->site);
	} else if (pp_operation_releases(operation)) {
		mapped->value++;
		note_release(
		    self, object, operation->thread,
		    add_operation(self, track, PP_REPLAY_SEM_POST, object, operation->site),
		    operation->end_ns);
	} else if (operation->waited && operation->finished) {
		pp_build_sleep(track, operation->end_ns - operation->begin_ns);
	}
}

static void on_barrier(struct pp_replay_builder *self, struct track *track,
		       struct pp_object *object, const struct pp_operation *operation)
{
	if (!pp_sync_has(operation->op, PP_SYNC_PASSES) || !operation->finished)
		return;
	add_operation(self, track, PP_REPLAY_BARRIER, object, operation->site);
}

static void on_thread(struct pp_replay_builder *self, struct track *track, struct pp_object *object,
		      const struct pp_operation *operation)
{
	struct creation creation = {track, 0, object};

	if (operation->op != ST_EVENT_thread_create || operation->result != 0)
		return;
	creation.step = pp_build_step(
	    track, (struct pp_replay_step){.kind = PP_REPLAY_CREATE,
					   .thread = PP_BUILD_LATER,
					   .site = pp_build_site(self, operation->site)});
	g_array_append_val(self->creations, creation);
}

/* Anything else: a step that others may await, or a wait for one. */
static void on_other(struct pp_replay_builder *self, struct track *track, struct pp_object *object,
		     const struct pp_operation *operation)
{
	uint32_t step;

	if (!pp_operation_releases(operation))
		return;
	if (object->type == GM_SYNC_TYPE_cond)
		step = add_operation(self, track, PP_REPLAY_NOTIFY, object, operation->site);
	else
		step = pp_build_step(
		    track, (struct pp_replay_step){.kind = PP_REPLAY_SIGNAL,
						   .site = pp_build_site(self, operation->site)});
	note_release(self, object, operation->thread, step, operation->end_ns);
}

/* The number of threads of a barrier is not known if its initialization was not recorded. */
static bool has_rules(const struct pp_object *object)
{
	return pp_object_is_lock(object) || object->type == GM_SYNC_TYPE_sem ||
	       (object->type == GM_SYNC_TYPE_barrier && object->value != 0);
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct pp_replay_builder *self = data;
	bool is_own = object->type == pp_sync_type(operation->op);
	struct track *track = pp_build_track_until(self, operation->thread, operation->end_ns);

	if (!self->process)
		self->process = operation->thread->process;
	if (is_own && operation->waited) {
		pp_contention_waited(self->contention, &track->contender);
		mapped_of(object)->n_waiting -= mapped_of(object)->n_waiting > 0;
		if (has_rules(object))
			settle_only(self, object, operation);
		else
			add_wait(self, track, object, operation);
	}
	if (pp_object_is_lock(object))
		on_lock(self, track, object, operation, acquired);
	else if (object->type == GM_SYNC_TYPE_sem)
		on_semaphore(self, track, object, operation, acquired);
	else if (object->type == GM_SYNC_TYPE_barrier && has_rules(object))
		on_barrier(self, track, object, operation);
	else if (object->type == GM_SYNC_TYPE_thread)
		on_thread(self, track, object, operation);
	else
		on_other(self, track, object, operation);
}

/*
 * A thread was ready and has a CPU now. Returns true if it has not waited for other threads to
 * leave that: it was woken, or came to a CPU that was idle.
 */
static bool note_wake(struct pp_replay_builder *self, struct track *track,
		      const struct pp_interval *interval)
{
	int64_t ns = interval->end_ns - interval->start_ns;
	bool is_woken = track->is_woken;

	track->is_woken = false;
	if (!is_woken)
		return self->wake_to == PP_REPLAY_WAKE_IDLE;
	if (!pp_replay_is_wake(self->wake_to, ns))
		return false;
	if (interval->waker)
		pp_replay_wakes_add(self->wakes, self->wake_to, ns);
	return true;
}

/* To be called before note_wake(), which forgets that the thread was woken. */
static void note_delay(struct pp_replay_builder *self, const struct track *track,
		       const struct pp_interval *interval, int64_t end_ns)
{
	int64_t ns = end_ns - interval->start_ns;
	bool is_first = track->steps->len == 0 && !track->contender.cpu_ns;
	bool is_late = track->contender.n_waits != 0;
	bool is_wake =
	    ((track->is_woken && is_late) || is_first) && pp_replay_is_wake(self->wake_to, ns);

	if (self->part.is_wanted &&
	    interval->start_ns < pp_build_part_time(self, self->part.from_ns))
		return;
	if (interval->mode == PP_MODE_RUNNING)
		pp_replay_delays_run(self->delays, interval->start_ns, end_ns);
	else if (interval->mode == PP_MODE_RUNNABLE && !is_wake)
		pp_replay_delays_ready(self->delays, interval->start_ns, end_ns,
				       interval->thread->serial, track->steps->len, is_late);
}

static void on_interval(void *data, const struct pp_interval *interval)
{
	struct pp_replay_builder *self = pp_objects_owner(data);
	bool is_running = interval->mode == PP_MODE_RUNNING;
	int64_t end_ns = pp_build_part_end(self, interval->end_ns);
	struct track *track;

	if (end_ns < interval->start_ns)
		return; /* a thread that begins behind the part */
	track = pp_build_track(self, interval->thread);
	if (track->contender.until_ns == PP_TIME_UNKNOWN)
		track->contender.until_ns = interval->start_ns;
	pp_build_account(track, end_ns, interval->mode);
	note_delay(self, track, interval, end_ns);
	if (is_running || (interval->mode == PP_MODE_RUNNABLE && !note_wake(self, track, interval)))
		pp_replay_others_add(self->others, interval->start_ns, end_ns, is_running);
}

/* --- the builder ------------------------------------------------------------------------------ */

struct pp_replay_builder *pp_replay_builder_new(const struct pp_pass_context *context)
{
	struct pp_replay_builder *self = g_new0(struct pp_replay_builder, 1);

	self->context = context;
	self->thread_listener = pp_objects_feed(&self->objects);
	self->thread_listener.interval = on_interval;
	self->object_listener = (struct pp_object_listener){
	    .data = self,
	    .waits = on_waits,
	    .operation = on_operation,
	    .released = on_released,
	    .yielded = on_yielded,
	};
	pp_objects_init(&self->objects, &self->object_listener, NULL);
	pp_wait_ends_init(&self->ends, context->model);
	self->tracks = g_ptr_array_new_with_free_func(pp_build_track_free);
	self->mapped = g_ptr_array_new();
	self->creations = g_array_new(FALSE, FALSE, sizeof(struct creation));
	self->sites = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	self->addresses = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->wakes = pp_replay_wakes_new();
	self->others = pp_replay_others_new();
	self->delays = pp_replay_delays_new();
	self->numbers = pp_replay_numbers_new();
	self->contention = pp_contention_new();
	self->states = pp_thread_states_new(context, &self->thread_listener, NULL);
	return self;
}

void pp_replay_builder_share(struct pp_replay_builder *self, const GPtrArray *functions)
{
	self->shares = pp_replay_shares_new(self->context->namer, functions);
}

void pp_replay_builder_call_times(struct pp_replay_builder *self, const GPtrArray *functions,
				  bool (*has_returns)(const void *data, uint32_t serial),
				  const void *data)
{
	self->call_times = pp_replay_call_times_new(self->context, functions, has_returns, data);
}

void pp_replay_builder_accesses(struct pp_replay_builder *self, bool with_spans)
{
	self->units = pp_replay_units_new(self->context, with_spans);
}

GArray *pp_replay_builder_sets(const struct pp_replay_builder *self)
{
	return pp_replay_units_sets(self->units);
}

static void note_switch(struct pp_replay_builder *self, const struct pp_event *event)
{
	if (event->sched_switch.prev_tid == TID_OF_IDLE)
		self->wake_to = PP_REPLAY_WAKE_IDLE;
	else
		self->wake_to =
		    event->sched_switch.prev ? PP_REPLAY_WAKE_OWN : PP_REPLAY_WAKE_TAKEN;
	pp_replay_others_take(self->others, event->cpu, event->time_ns,
			      !event->sched_switch.next &&
				  event->sched_switch.next_tid > TID_OF_IDLE);
}

static void note_call(struct pp_replay_builder *self, const struct pp_event *event)
{
	const struct track *track;

	if (!self->call_times || !event->thread)
		return;
	track = pp_build_track_until(self, event->thread, event->time_ns);
	pp_replay_call_times_event(self->call_times, event, track->contender.cpu_ns);
}

void pp_replay_builder_event(struct pp_replay_builder *self, const struct pp_event *event)
{
	if (self->part.is_wanted && !pp_build_part_has(self, event))
		return;
	if (self->units && event->kind != PP_EVENT_SAMPLE &&
	    !(PP_EVENT_MASK(event->kind) & PP_CALL_KINDS))
		pp_replay_units_event(self->units, event);
	if (PP_EVENT_MASK(event->kind) & PP_ACCESS_KINDS)
		return;
	if (PP_EVENT_MASK(event->kind) & PP_CALL_KINDS) {
		note_call(self, event);
		return;
	}
	if (event->kind == PP_EVENT_SAMPLE) {
		if (self->shares && event->thread)
			pp_replay_shares_sample(self->shares, event,
						pp_build_track(self, event->thread)->steps->len);
		return;
	}
	if (event->kind == PP_EVENT_WAKING) {
		struct track *waker = event->waking.waker
					  ? pp_build_track_at(self, event->waking.waker->serial)
					  : NULL;

		if (event->thread)
			pp_build_track(self, event->thread)->is_woken = true;
		pp_wait_ends_waking(&self->ends, event);
		if (waker)
			pp_contention_wakes(self->contention, &waker->contender, event->time_ns);
	}
	if (event->kind == PP_EVENT_SWITCH)
		note_switch(self, event);
	pp_thread_states_event(self->states, event);
	self->wake_to = PP_REPLAY_WAKE_OWN;
}

void pp_replay_builder_free(struct pp_replay_builder *self)
{
	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, g_free);
	pp_wait_ends_done(&self->ends);
	g_ptr_array_unref(self->tracks);
	g_ptr_array_unref(self->mapped);
	g_array_unref(self->creations);
	pp_replay_numbers_free(self->numbers);
	g_hash_table_unref(self->sites);
	g_array_unref(self->addresses);
	pp_replay_wakes_free(self->wakes);
	pp_replay_others_free(self->others);
	pp_replay_delays_free(self->delays);
	pp_replay_shares_free(self->shares);
	pp_replay_call_times_free(self->call_times);
	pp_replay_units_free(self->units);
	pp_contention_free(self->contention);
	g_clear_pointer(&self->part.threads, g_array_unref);
	g_free(self);
}
