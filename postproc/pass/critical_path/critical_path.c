/* SPDX-License-Identifier: MIT */
/*
 * The critical path: the chain of running, runnable and waiting segments that determined when the
 * program, or a thread, ended.  Backwards from that end, it follows the thread to the point where
 * it was woken, then the waker, and so on.  Work that is not on the path could have been faster
 * without any effect.
 *
 * The path is found in one forward sweep, in bounded memory: each thread has its own chain
 * (analysis/graph/chain.h).  A woken thread drops its chain and takes a branch of its waker's.  If
 * wake-ups are not recorded, a waiter takes a branch of the thread that last released the object.
 * A wait that no thread of the program ended (a sleep, a timer, a disk) stays on the path as
 * blocked time.
 *
 * The time on the path is summed by thread and mode; by object held by the thread on the path; by
 * the last synchronization or blocking call of that thread; and by function, if there is a call
 * history (calls.c).
 */
#include "pass/critical_path/critical_path.h"

#include "core/cache_lines.h"

#include "analysis/state/exec_image.h"
#include "analysis/select.h"

/* struct pp_object.data: the state of the thread that last released it to waiters. */
struct release {
	struct pp_chain chain;
	const struct pp_thread *thread;
	int64_t at_ns;
};

static bool is_blocked(unsigned mode)
{
	return mode == PP_MODE_BLOCKED_SYNC || mode == PP_MODE_BLOCKED_IO ||
	       mode == PP_MODE_BLOCKED_OTHER;
}

/* --- sums ----------------------------------------------------------------------------------- */

/* True if the thread is in the call at its place. */
static bool is_in_call(const struct pp_critical *self, const struct pp_thread *thread)
{
	const struct pp_thread_state *state = pp_thread_state(self->states, thread);

	return state && (state->in_io || state->operations.depth);
}

/* Adds the time to all sums except that of functions. */
static void add_time(struct pp_critical *self, struct pp_critical_track *track,
		     const struct pp_thread *thread, int64_t start_ns, int64_t end_ns,
		     unsigned mode)
{
	int64_t ns = end_ns - start_ns;

	pp_chain_go(&track->chain, thread->serial, track->place, start_ns, end_ns, mode);
	if ((mode == PP_CRITICAL_MODE_OUTSIDE || is_blocked(mode)) && is_in_call(self, thread))
		pp_chain_block(&track->chain, track->place, ns);
	pp_chain_add(&track->chain, pp_critical_key(PP_CRITICAL_IN_MODE, thread->serial, mode), ns);
	pp_chain_add(&track->chain, pp_critical_key(PP_CRITICAL_AFTER_CALL, track->place, mode),
		     ns);
	for (guint i = track->holds->len; i-- > 0;) {
		struct pp_object *object = track->holds->pdata[i];

		if (!pp_object_is_held(object, thread)) {
			g_ptr_array_remove_index_fast(track->holds, i);
			continue;
		}
		pp_chain_add(
		    &track->chain,
		    pp_critical_key(PP_CRITICAL_HELD, pp_object_refs_add(&self->refs, object), 0),
		    ns);
	}
}

/* Adds the thread's time up to now, spent in that mode. */
static void account(struct pp_critical *self, struct pp_critical_track *track,
		    const struct pp_thread *thread, int64_t until_ns, unsigned mode)
{
	int64_t from_ns = track->until_ns;

	if (until_ns <= from_ns)
		return;
	track->until_ns = until_ns;
	if (!pp_select_part(self->context, &from_ns, &until_ns))
		return;
	add_time(self, track, thread, from_ns, until_ns, mode);
	if (mode == PP_CRITICAL_MODE_OUTSIDE)
		pp_critical_add_outside(self, track, thread, until_ns - from_ns);
	if (self->context->has_calls)
		pp_chain_add(
		    &track->chain,
		    pp_critical_key(PP_CRITICAL_IN_FUNCTION, pp_critical_function(track), mode),
		    until_ns - from_ns);
}

/* To be called before any event other than a call is processed. */
static void add_pending(struct pp_critical *self)
{
	for (guint i = 0; i < self->pending->len; i++) {
		struct pp_critical_track *track = self->pending->pdata[i];
		int64_t start_ns = track->pending_ns, end_ns = track->until_ns;

		pp_critical_add_own(track);
		if (pp_select_part(self->context, &start_ns, &end_ns))
			add_time(self, track, track->pending, start_ns, end_ns,
				 track->pending_mode);
		track->pending = NULL;
	}
	g_ptr_array_set_size(self->pending, 0);
}

static enum pp_mode mode_of(const struct pp_critical *self, const struct pp_thread *thread)
{
	const struct pp_thread_state *state = pp_thread_state(self->states, thread);

	if (state && state->begun)
		return state->mode;
	/* No event yet: the mode that the state machine will begin with. */
	return self->context->has_kernel ? PP_MODE_RUNNING : PP_MODE_UNKNOWN;
}

/* --- threads -------------------------------------------------------------------------------- */

static struct pp_critical_track *track_of(struct pp_critical *self, const struct pp_thread *thread)
{
	struct pp_critical_track *track;

	pp_by_serial_reach(self->tracks, thread->serial);
	track = self->tracks->pdata[thread->serial];
	if (!track) {
		track = pp_apart_new0(1, sizeof(*track));
		track->holds = g_ptr_array_new();
		/* converted to a return address, which is looked up one byte back */
		track->place = pp_call_sites_number(
		    &self->places,
		    (struct pp_call_site){thread->process,
					  thread->start_routine ? thread->start_routine + 1 : 0,
					  ST_N_EVENTS});
		pp_call_stack_init(&track->stack, &self->functions, false);
		track->stack.links_outermost = true;
		if (self->context->has_calls && thread->start_routine)
			pp_call_stack_push(&track->stack, thread->process,
					   thread->start_routine + 1, 0, INT64_MIN);
		self->tracks->pdata[thread->serial] = track;
	}
	return track;
}

/* The thread's chain, to branch from. */
static struct pp_chain *chain_of(const struct pp_critical *self, struct pp_critical_track *track)
{
	pp_critical_count_calls(self, track, 0);
	return &track->chain;
}

/* The history of `from` up to that time becomes the history of this thread. */
static void take_over(struct pp_critical *self, struct pp_critical_track *track,
		      struct pp_chain *from, int64_t at_ns, struct pp_object *object,
		      int64_t waited_ns)
{
	guint id = object ? pp_object_refs_add(&self->refs, object) : PP_CRITICAL_NO_OBJECT;
	struct pp_chain chain = pp_chain_branch(from);

	if (track->chain.leaf)
		pp_chain_drop(&track->chain);
	track->chain = chain;
	track->until_ns = at_ns;
	pp_chain_pass(&track->chain, id);
	pp_critical_restart_calls(track);
	if (waited_ns < 0 || !pp_selects_time(self->context, at_ns))
		return;
	pp_chain_add(&track->chain, pp_critical_key(PP_CRITICAL_CROSSINGS, id, 0), 1);
	pp_chain_add(&track->chain, pp_critical_key(PP_CRITICAL_WAITED, id, 0),
		     pp_selected_ns(self->context, at_ns - waited_ns, at_ns));
}

static void begin(struct pp_critical *self, const struct pp_thread *thread, int64_t now_ns);

/* The track with all time up to now in its chain. */
static struct pp_critical_track *track_until(struct pp_critical *self,
					     const struct pp_thread *thread, int64_t now_ns)
{
	struct pp_critical_track *track = track_of(self, thread);

	if (!track->chain.leaf)
		begin(self, thread, now_ns);
	account(self, track, thread, now_ns, mode_of(self, thread));
	return track;
}

/* Begins with a branch of the creator's chain, if the creator is known. */
static void begin(struct pp_critical *self, const struct pp_thread *thread, int64_t now_ns)
{
	const struct pp_thread *parent =
	    thread->parent_index >= 0
		? pp_process_thread(thread->process, (uint32_t)thread->parent_index)
		: NULL;
	struct pp_critical_track *track = track_of(self, thread);
	int64_t from_ns = thread->start_ns != PP_TIME_UNKNOWN && thread->start_ns < now_ns
			      ? thread->start_ns
			      : now_ns;

	if (!self->context->has_kernel && parent && parent != thread &&
	    parent->serial < self->tracks->len && self->tracks->pdata[parent->serial]) {
		struct pp_critical_track *creator = track_until(self, parent, now_ns);

		take_over(self, track, chain_of(self, creator), creator->until_ns, NULL, -1);
		return;
	}
	track->chain = pp_chain_begin(self->chains, from_ns);
	track->until_ns = from_ns;
	pp_critical_restart_calls(track);
}

/* --- wake-ups ------------------------------------------------------------------------------- */

static void on_waking(struct pp_critical *self, const struct pp_event *event)
{
	const struct pp_thread *thread = event->thread, *waker = event->waking.waker;
	struct pp_critical_track *track, *of_waker;

	if (!self->context->has_wakings || !thread || !waker || waker == thread ||
	    !is_blocked(mode_of(self, thread)))
		return;
	/* Not accounted up to now: its time so far is no longer on its path. */
	track = track_of(self, thread);
	of_waker = track_until(self, waker, event->time_ns);
	take_over(self, track, chain_of(self, of_waker), of_waker->until_ns, track->waits_on,
		  track->waits_on ? event->time_ns - track->waits_since_ns : 0);
}

static void on_fork(struct pp_critical *self, const struct pp_event *event)
{
	const struct pp_thread *thread = event->thread, *parent = event->fork.parent;
	struct pp_critical_track *creator;

	if (!thread || !parent || track_of(self, thread)->chain.leaf)
		return;
	creator = track_until(self, parent, event->time_ns);
	take_over(self, track_of(self, thread), chain_of(self, creator), creator->until_ns, NULL,
		  -1);
}

/* The new image continues the path of the exec. */
static void on_exec(struct pp_critical *self, const struct pp_event *event)
{
	const struct pp_thread *thread = event->thread, *next;
	struct pp_critical_track *before;

	next = thread ? pp_exec_successor(self->context->model, thread, event->time_ns) : NULL;
	if (!next || !track_of(self, thread)->chain.leaf || track_of(self, next)->chain.leaf)
		return;
	before = track_until(self, thread, event->time_ns);
	take_over(self, track_of(self, next), chain_of(self, before), before->until_ns, NULL, -1);
}

/* --- releases, where wake-ups are not recorded ---------------------------------------------- */

static void note_release(struct pp_critical *self, struct pp_object *object,
			 const struct pp_thread *thread, int64_t at_ns)
{
	struct release *release = object->data;
	struct pp_critical_track *track;

	if (self->context->has_wakings || pp_object_n_waiters(object) == 0)
		return;
	if (!release)
		release = object->data = g_new0(struct release, 1);
	else
		pp_chain_drop(&release->chain);
	track = track_until(self, thread, at_ns);
	*release =
	    (struct release){pp_chain_branch(chain_of(self, track)), thread, track->until_ns};
}

static bool releases(const struct pp_operation *operation)
{
	return pp_sync_has(operation->op, PP_SYNC_WAKES) ||
	       (pp_sync_has(operation->op, PP_SYNC_PASSES) &&
		pp_sync_type(operation->op) == GM_SYNC_TYPE_barrier && !operation->waited);
}

/* Takes over the chain of the thread that released the object during the wait. */
static void follow_release(struct pp_critical *self, struct pp_object *object,
			   const struct pp_operation *operation)
{
	struct pp_critical_track *track = track_of(self, operation->thread);
	struct release *release = object->data;
	struct pp_critical_track *ended = object->subject ? track_of(self, object->subject) : NULL;
	struct pp_chain *chain = NULL;
	int64_t at_ns = 0;

	if (ended && ended->chain.leaf) {
		chain = chain_of(self, ended);
		at_ns = ended->until_ns;
	} else if (release && release->thread != operation->thread) {
		chain = &release->chain;
		at_ns = release->at_ns;
	}
	if (!chain || at_ns <= operation->begin_ns || at_ns > operation->end_ns)
		return;
	take_over(self, track, chain, at_ns, object, at_ns - operation->begin_ns);
	account(self, track, operation->thread, operation->end_ns, PP_MODE_BLOCKED_SYNC);
}

/* --- listeners of the state machines -------------------------------------------------------- */

static void on_interval(void *data, const struct pp_interval *interval)
{
	struct pp_critical *self = pp_objects_owner(data);
	struct pp_critical_track *track = track_of(self, interval->thread);

	if (!track->chain.leaf)
		begin(self, interval->thread, interval->start_ns);
	account(self, track, interval->thread, interval->end_ns,
		pp_critical_mode(self, track, interval));
}

static void on_waits(void *data, struct pp_object *object, const struct pp_operation *operation)
{
	struct pp_critical_track *track = track_of(data, operation->thread);

	track->waits_on = object;
	track->waits_since_ns = operation->begin_ns;
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct pp_critical *self = data;
	struct pp_critical_track *track = track_of(self, operation->thread);

	if (object->type == pp_sync_type(operation->op)) {
		track->waits_on = NULL;
		if (releases(operation))
			note_release(self, object, operation->thread, operation->end_ns);
		else if (operation->waited && operation->finished && !self->context->has_wakings)
			follow_release(self, object, operation);
	}
	if (acquired && pp_object_is_lock(object) && !g_ptr_array_find(track->holds, object, NULL))
		g_ptr_array_add(track->holds, object);
}

static void on_released(void *data, struct pp_object *object, const struct pp_hold *hold,
			int64_t end_ns, const struct pp_operation *operation)
{
	struct pp_critical *self = data;

	g_ptr_array_remove_fast(track_of(self, hold->thread)->holds, object);
	if (operation && track_of(self, hold->thread)->chain.leaf)
		note_release(self, object, hold->thread, end_ns);
}

static void on_dropped(void *data, struct pp_object *object, const struct pp_thread *thread)
{
	g_ptr_array_remove_fast(track_of(data, thread)->holds, object);
}

static void release_free(void *data)
{
	struct release *release = data;

	pp_chain_drop(&release->chain);
	g_free(release);
}

static bool on_end(void *data, struct pp_object *object, struct pp_object *group)
{
	struct pp_critical *self = data;
	bool is_kept = pp_object_refs_end(&self->refs, object);

	(void)group;
	for (guint i = 0; i < pp_object_n_waiters(object); i++) {
		const struct pp_waiter *waiter =
		    &g_array_index(object->waiters, struct pp_waiter, i);
		struct pp_critical_track *track = track_of(self, waiter->thread);

		if (track->waits_on == object)
			track->waits_on = NULL;
	}
	g_clear_pointer(&object->data, release_free);
	if (self->refs.ended->len >= PP_OBJECT_REFS_MANY)
		pp_critical_fold_objects(self);
	return is_kept;
}

/* --- the pass ------------------------------------------------------------------------------- */

static void track_free(void *data)
{
	struct pp_critical_track *track = data;

	if (!track)
		return;
	g_ptr_array_unref(track->holds);
	pp_call_stack_done(&track->stack);
	g_aligned_free(track);
}

static void *critical_start(const struct pp_pass_context *context)
{
	struct pp_critical *self = g_new0(struct pp_critical, 1);

	self->context = context;
	self->thread_listener = pp_objects_feed(&self->objects);
	self->thread_listener.interval = on_interval;
	self->object_listener = (struct pp_object_listener){
	    .data = self,
	    .waits = on_waits,
	    .operation = on_operation,
	    .released = on_released,
	    .dropped = on_dropped,
	    .fold = on_end,
	    .context = context,
	};
	pp_objects_init(&self->objects, &self->object_listener, NULL);
	pp_object_refs_init(&self->refs);
	self->states = pp_thread_states_new(context, &self->thread_listener, NULL);
	self->chains = pp_chains_new();
	self->tracks = g_ptr_array_new_with_free_func(track_free);
	self->pending = g_ptr_array_new();
	pp_call_sites_init(&self->places);
	pp_functions_init(&self->functions, context->namer, context->model->lock);
	return self;
}

/* The track, ready for a call; NULL if the thread has ended. */
static struct pp_critical_track *track_calling(struct pp_critical *self,
					       const struct pp_event *event)
{
	const struct pp_thread *thread = event->thread;
	const struct pp_thread_state *state = pp_thread_state(self->states, thread);
	struct pp_critical_track *track;

	if (state && state->over)
		return NULL;
	track = track_of(self, thread);
	if (!track->chain.leaf) {
		add_pending(self);
		begin(self, thread, event->time_ns);
	}
	return track;
}

/* While a track is pending, only calls have occurred, so the thread's mode has not changed. */
static void on_call(struct pp_critical *self, const struct pp_event *event)
{
	const struct pp_thread *thread = event->thread;
	struct pp_critical_track *track =
	    thread->serial < self->tracks->len ? self->tracks->pdata[thread->serial] : NULL;

	if (!track || !track->pending)
		track = track_calling(self, event);
	if (!track)
		return;
	pp_critical_run(self, track, thread, event->time_ns,
			track->pending ? track->pending_mode : mode_of(self, thread));
	pp_critical_follow_calls(self, track, event);
}

static void on_sync(struct pp_critical *self, const struct pp_event *event)
{
	struct pp_critical_track *track = track_until(self, event->thread, event->time_ns);

	pp_critical_follow_calls(self, track, event);
	pp_thread_states_event(self->states, event);
	if (event->sync.site && !pp_sync_has(event->sync.op, PP_SYNC_DEFINES))
		track->place = pp_call_sites_number(&self->places, pp_call_site_of(event));
}

/* The state machine reports the time in the call. */
static void on_io(struct pp_critical *self, const struct pp_event *event)
{
	if (event->kind == PP_EVENT_IO_BEGIN)
		(void)track_until(self, event->thread, event->time_ns);
	pp_thread_states_event(self->states, event);
	if (event->io.site)
		track_of(self, event->thread)->place =
		    pp_call_sites_number(&self->places, pp_call_site_of(event));
}

static void critical_event(void *state, const struct pp_event *event)
{
	struct pp_critical *self = state;

	if (event->kind == PP_EVENT_CALL || event->kind == PP_EVENT_RETURN) {
		on_call(self, event);
		return;
	}
	add_pending(self);
	if (event->kind == PP_EVENT_SYNC) {
		on_sync(self, event);
		return;
	}
	if (PP_EVENT_MASK(event->kind) & PP_IO_KINDS) {
		on_io(self, event);
		return;
	}
	if (event->kind == PP_EVENT_WAKING)
		on_waking(self, event);
	else if (event->kind == PP_EVENT_FORK)
		on_fork(self, event);
	else if (event->kind == PP_EVENT_EXEC)
		on_exec(self, event);
	pp_thread_states_event(self->states, event);
}

static void critical_free(void *state)
{
	struct pp_critical *self = state;

	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, g_free);
	pp_object_refs_done(&self->refs);
	pp_chains_free(self->chains);
	g_ptr_array_unref(self->pending);
	g_ptr_array_unref(self->tracks);
	pp_call_sites_done(&self->places);
	pp_site_set_done(&self->outsides);
	pp_functions_done(&self->functions);
	g_free(self);
}

static void critical_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	add_pending(state);
	pp_critical_finish(state, end_ns, tables);
}

const struct pp_pass pp_pass_critical_path = {
    .name = "critical-path",
    .summary = "what set the end time",
    .kinds = PP_THREAD_STATE_KINDS | PP_CALL_KINDS,
    .selects = PP_SELECT_THREAD | PP_SELECT_TIME,
    .has_operations = true,
    .calls_apart = true,
    .start = critical_start,
    .event = critical_event,
    .finish = critical_finish,
    .free = critical_free,
};
