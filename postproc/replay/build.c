/* SPDX-License-Identifier: MIT */
/*
 * The model is built from the callbacks of the state machines: each operation ends a step, and the
 * time before it, by mode, becomes its CPU time or a sleep.
 */
#include "replay/build.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/state/object_name.h"
#include "analysis/state/object_state.h"
#include "analysis/state/wait_end.h"
#include "replay/contention.h"
#include "replay/numbers.h"
#include "replay/others.h"
#include "replay/shares.h"
#include "replay/units.h"

#define LATER UINT32_MAX /* the number of a step or thread that is known at the end only */

/* Values of the scheduler that the capture does not tell. */
#define QUANTUM_NS	3000000
#define WAKE_NS		50000
#define LONGEST_WAKE_NS 1000000 /* longer ones are waits for a CPU */

struct track {
	const struct pp_thread *thread;
	GArray *steps;	  /* of struct pp_replay_step */
	uint64_t cpu_ns;  /* since the last step */
	int64_t until_ns; /* accounted so far */
	unsigned n_waits; /* synchronization operations that it waits in */
	bool has_creator;
	uint32_t number; /* in the model */
	uint32_t *rank;	 /* of the last step, of all threads */
	struct pp_replay_contention *contention;
	struct pp_replay_contender contender;
};

/* struct pp_object.data */
struct mapped {
	uint32_t number;    /* LATER: it has none so far */
	int64_t value;	    /* of a semaphore: posts minus waits so far */
	int64_t least;	    /* ... and its minimum */
	unsigned n_waiting; /* threads */
};

/* A thread was created by that step. */
struct creation {
	struct track *creator;
	uint32_t step;
	const struct pp_object *object;
};

struct pp_replay_builder {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	struct pp_wait_ends ends;
	GPtrArray *tracks; /* by serial, of struct track * */
	GPtrArray *mapped; /* of const struct pp_object *, by number in the model */
	GArray *creations; /* of struct creation */
	struct pp_replay_numbers *numbers;
	GHashTable *sites; /* address -> number */
	GArray *addresses; /* of uint64_t, by number - 1 */
	GArray *wakes;	   /* of int64_t: times from a wake-up until the thread ran */
	struct pp_replay_others *others;
	struct pp_replay_shares *shares; /* NULL: not wanted */
	struct pp_replay_units *units;	 /* the same */
	struct pp_replay_contention *contention;
	const struct pp_process *process;
	struct pp_replay_gaps gaps;
	uint32_t rank; /* of the last step */
};

/* --- tracks and steps ------------------------------------------------------------------------- */

static struct track *track_of(struct pp_replay_builder *self, const struct pp_thread *thread)
{
	struct track *track;

	if (thread->serial >= self->tracks->len)
		g_ptr_array_set_size(self->tracks, (gint)thread->serial + 1);
	track = self->tracks->pdata[thread->serial];
	if (!track) {
		track = self->tracks->pdata[thread->serial] = g_new0(struct track, 1);
		track->thread = thread;
		track->rank = &self->rank;
		track->contention = self->contention;
		track->steps = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_step));
		track->until_ns = PP_TIME_UNKNOWN;
	}
	return track;
}

static uint32_t site_number(struct pp_replay_builder *self, uint64_t site)
{
	void *known;

	if (!site)
		return PP_REPLAY_NO_SITE;
	known = g_hash_table_lookup(self->sites, &site);
	if (known)
		return GPOINTER_TO_UINT(known);
	if (self->addresses->len == PP_REPLAY_MOST_SITES)
		return PP_REPLAY_NO_SITE;
	g_array_append_val(self->addresses, site);
	g_hash_table_insert(self->sites, g_memdup2(&site, sizeof(site)),
			    GUINT_TO_POINTER(self->addresses->len));
	return self->addresses->len;
}

/*
 * Adds the step, with the CPU time since the one before. Callbacks come in the order of time, and
 * so do the steps of all threads; without the last ones, which are added at the end.
 */
static uint32_t add_step(struct track *track, struct pp_replay_step step)
{
	pp_replay_contention_step(track->contention, &track->contender, track->steps->len,
				  step.site, track->cpu_ns);
	step.cpu_ns = track->cpu_ns;
	step.rank = step.kind == PP_REPLAY_EXIT ? PP_REPLAY_NO_RANK : ++*track->rank;
	track->cpu_ns = 0;
	g_array_append_val(track->steps, step);
	return track->steps->len - 1;
}

static void add_sleep(struct track *track, int64_t ns)
{
	if (ns > 0)
		add_step(track, (struct pp_replay_step){.kind = PP_REPLAY_SLEEP,
							.sleep_ns = (uint64_t)ns});
}

/* Adds the time up to then, in that mode. */
static void account(struct track *track, int64_t until_ns, enum pp_mode mode)
{
	int64_t ns = until_ns - track->until_ns;

	if (track->until_ns == PP_TIME_UNKNOWN || ns <= 0) {
		track->until_ns = MAX(track->until_ns, until_ns);
		return;
	}
	track->until_ns = until_ns;
	if (track->n_waits) {
		if (mode == PP_MODE_RUNNING)
			pp_replay_contention_ran(track->contention, &track->contender, ns);
		else if (mode != PP_MODE_RUNNABLE && mode != PP_MODE_UNKNOWN)
			pp_replay_contention_blocked(track->contention, &track->contender);
		return;
	}
	if (mode == PP_MODE_RUNNING || mode == PP_MODE_UNKNOWN)
		track->cpu_ns += (uint64_t)ns;
	else if (mode == PP_MODE_BLOCKED_IO || mode == PP_MODE_BLOCKED_OTHER)
		add_sleep(track, ns);
}

static struct track *track_until(struct pp_replay_builder *self, const struct pp_thread *thread,
				 int64_t now_ns)
{
	const struct pp_thread_state *state = pp_thread_state(self->states, thread);
	struct track *track = track_of(self, thread);

	if (track->until_ns == PP_TIME_UNKNOWN)
		track->until_ns = state && state->begun ? state->start_ns : now_ns;
	account(track, now_ns, state && state->begun ? state->mode : PP_MODE_UNKNOWN);
	return track;
}

/* --- objects ---------------------------------------------------------------------------------- */

static struct mapped *mapped_of(struct pp_object *object)
{
	if (!object->data) {
		struct mapped *mapped = object->data = g_new0(struct mapped, 1);

		mapped->number = LATER;
	}
	return object->data;
}

static uint32_t object_number(struct pp_replay_builder *self, struct pp_object *object)
{
	struct mapped *mapped = mapped_of(object);

	if (mapped->number == LATER) {
		mapped->number = self->mapped->len;
		g_ptr_array_add(self->mapped, object);
	}
	return mapped->number;
}

static uint32_t add_operation(struct pp_replay_builder *self, struct track *track,
			      enum pp_replay_kind kind, struct pp_object *object, uint64_t site)
{
	return add_step(track, (struct pp_replay_step){.kind = kind,
						       .object = object_number(self, object),
						       .site = site_number(self, site)});
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
	struct track *track = track_until(self, operation->thread, operation->begin_ns);

	track->n_waits++;
	mapped_of(object)->n_waiting++;
	if (pp_object_is_lock(object))
		pp_replay_contention_waits(&track->contender);
	pp_wait_ends_begin(&self->ends, object, operation, owner);
}

/* Adds a wait for what ended it when it was recorded. */
static void add_wait(struct pp_replay_builder *self, struct track *track, struct pp_object *object,
		     const struct pp_operation *operation)
{
	struct pp_wait_other other;
	enum pp_wait_how how = pp_wait_ends_settle(&self->ends, object, operation, &other);
	struct pp_replay_step step = {.kind = PP_REPLAY_AWAIT,
				      .site = site_number(self, operation->site)};
	bool is_join = operation->op == ST_EVENT_thread_join;

	if (how == PP_WAIT_ENDLESS)
		return;
	if (other.thread && other.thread != operation->thread &&
	    (is_join || other.mark != PP_MARK_NONE)) {
		step.of.thread = other.thread->serial;
		step.of.step = is_join ? LATER : other.mark;
		add_step(track, step);
		return;
	}
	if (how != PP_WAIT_TIMED_OUT) {
		self->gaps.unknown_waits++;
		self->gaps.filled_ns += operation->end_ns - operation->begin_ns;
	}
	add_sleep(track, operation->end_ns - operation->begin_ns);
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
	struct track *track = track_until(self, operation->thread, operation->begin_ns);
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
	track = track_until(self, hold->thread, end_ns);
	step =
	    add_operation(self, track, PP_REPLAY_UNLOCK, object, operation ? operation->site : 0);
	pp_replay_contention_released(
	    &track->contender, operation ? site_number(self, operation->site) : PP_REPLAY_NO_SITE,
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
		add_sleep(track, operation->end_ns - operation->begin_ns); /* it timed out */
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
		add_sleep(track, operation->end_ns - operation->begin_ns);
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
	creation.step =
	    add_step(track, (struct pp_replay_step){.kind = PP_REPLAY_CREATE,
						    .thread = LATER,
						    .site = site_number(self, operation->site)});
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
		step = add_step(
		    track, (struct pp_replay_step){.kind = PP_REPLAY_SIGNAL,
						   .site = site_number(self, operation->site)});
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
	struct track *track = track_until(self, operation->thread, operation->end_ns);

	if (!self->process)
		self->process = operation->thread->process;
	if (is_own && operation->waited) {
		track->n_waits -= track->n_waits > 0;
		pp_replay_contention_acquired(self->contention, &track->contender);
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

static void on_interval(void *data, const struct pp_interval *interval)
{
	struct pp_replay_builder *self = pp_objects_owner(data);
	struct track *track = track_of(self, interval->thread);
	int64_t ns = interval->end_ns - interval->start_ns;

	if (track->until_ns == PP_TIME_UNKNOWN)
		track->until_ns = interval->start_ns;
	account(track, interval->end_ns, interval->mode);
	if (interval->mode == PP_MODE_RUNNABLE && interval->waker && ns <= LONGEST_WAKE_NS)
		g_array_append_val(self->wakes, ns);
	if (interval->mode == PP_MODE_RUNNING || interval->mode == PP_MODE_RUNNABLE)
		pp_replay_others_add(self->others, interval->start_ns, interval->end_ns,
				     interval->mode == PP_MODE_RUNNING);
}

/* --- the model -------------------------------------------------------------------------------- */

static void add_objects(struct pp_replay_builder *self, struct pp_replay_model *model)
{
	for (guint i = 0; i < self->mapped->len; i++) {
		const struct pp_object *object = self->mapped->pdata[i];
		const struct mapped *mapped = object->data;
		g_autofree char *name = pp_object_name(object, self->context->namer);

		if (object->type == GM_SYNC_TYPE_sem)
			pp_replay_add_object(model, PP_REPLAY_OBJECT_SEM,
					     (uint32_t)CLAMP(-mapped->least, 0, UINT32_MAX), name);
		else if (object->type == GM_SYNC_TYPE_barrier)
			pp_replay_add_object(model, PP_REPLAY_OBJECT_BARRIER,
					     (uint32_t)MIN(object->value, UINT32_MAX), name);
		else if (object->type == GM_SYNC_TYPE_cond)
			pp_replay_add_object(model, PP_REPLAY_OBJECT_COND, 0, name);
		else
			pp_replay_add_object(model, PP_REPLAY_OBJECT_LOCK, 0, name);
	}
	for (guint i = 0; i < self->addresses->len; i++) {
		g_autofree char *name =
		    self->context->namer->site(self->context->namer->data, self->process,
					       g_array_index(self->addresses, uint64_t, i));

		pp_replay_add_site(model, name);
	}
}

/* Joins each creation with the thread that it created, which then begins there. */
static void join_creations(struct pp_replay_builder *self)
{
	for (guint i = 0; i < self->creations->len; i++) {
		struct creation *creation = &g_array_index(self->creations, struct creation, i);
		struct pp_replay_step *step =
		    &g_array_index(creation->creator->steps, struct pp_replay_step, creation->step);
		const struct pp_thread *subject = creation->object->subject;
		struct track *created = subject ? track_of(self, subject) : NULL;

		if (!created || created->has_creator || created == creation->creator) {
			step->kind = PP_REPLAY_SIGNAL;
			continue;
		}
		created->has_creator = true;
		step->thread = subject->serial;
	}
}

static void number_threads(struct pp_replay_builder *self, struct pp_replay_model *model,
			   int64_t begin_ns, int64_t end_ns)
{
	for (guint i = 0; i < self->tracks->len; i++) {
		struct track *track = self->tracks->pdata[i];
		struct pp_replay_thread *thread;

		if (!track)
			continue;
		track->number = model->threads->len;
		thread =
		    pp_replay_add_thread(model, track->thread->name ? track->thread->name : "");
		thread->has_creator = track->has_creator;
		thread->start_ns =
		    track->thread->start_ns == PP_TIME_UNKNOWN
			? 0
			: CLAMP(track->thread->start_ns - begin_ns, 0, end_ns - begin_ns);
		self->gaps.late_threads +=
		    !track->has_creator && thread->start_ns > 0 && track->steps->len != 0;
		add_step(track, (struct pp_replay_step){.kind = PP_REPLAY_EXIT});
		g_array_unref(thread->steps);
		thread->steps = g_array_ref(track->steps);
		pp_replay_contention_take_out(&track->contender, &model->costs, thread->steps);
	}
}

static struct track *track_at(const struct pp_replay_builder *self, uint32_t serial)
{
	return serial < self->tracks->len ? self->tracks->pdata[serial] : NULL;
}

/* Replaces serial numbers of threads by those of the model. */
static void link_steps(struct pp_replay_builder *self)
{
	for (guint i = 0; i < self->tracks->len; i++) {
		const struct track *track = self->tracks->pdata[i];

		for (guint k = 0; track && k < track->steps->len; k++) {
			struct pp_replay_step *step =
			    &g_array_index(track->steps, struct pp_replay_step, k);
			const struct track *other;

			if (step->kind == PP_REPLAY_CREATE) {
				step->thread = track_at(self, step->thread)->number;
			} else if (step->kind == PP_REPLAY_AWAIT) {
				other = track_at(self, step->of.thread);
				if (!other) {
					step->kind = PP_REPLAY_SIGNAL;
					continue;
				}
				step->of.thread = other->number;
				step->of.step = MIN(step->of.step, other->steps->len - 1);
			}
		}
	}
}

/* The steps that notify conditions, in the order of the recorded run. */
static struct pp_replay_step **notifications(const struct pp_replay_builder *self)
{
	struct pp_replay_step **steps = g_new0(struct pp_replay_step *, self->rank + 1);

	for (guint i = 0; i < self->tracks->len; i++) {
		const struct track *track = self->tracks->pdata[i];

		for (guint k = 0; track && k < track->steps->len; k++) {
			struct pp_replay_step *step =
			    &g_array_index(track->steps, struct pp_replay_step, k);

			if (step->kind == PP_REPLAY_NOTIFY)
				steps[step->rank] = step;
		}
	}
	return steps;
}

/* Returns the number of notifications of its object up to each of these steps, by rank. */
static uint32_t *count_notifications(const struct pp_replay_builder *self)
{
	g_autofree struct pp_replay_step **steps = notifications(self);
	g_autofree uint32_t *sums = g_new0(uint32_t, self->mapped->len);
	uint32_t *counts = g_new0(uint32_t, self->rank + 1);

	for (uint32_t rank = 1; rank <= self->rank; rank++)
		if (steps[rank])
			counts[rank] = ++sums[steps[rank]->object];
	return counts;
}

/* A wait for a step that notifies a condition becomes one for a number of notifications. */
static void link_notified(const struct pp_replay_builder *self, const struct pp_replay_model *model)
{
	g_autofree uint32_t *counts = count_notifications(self);

	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];

		for (guint k = 0; k < thread->steps->len; k++) {
			struct pp_replay_step *step =
			    &g_array_index(thread->steps, struct pp_replay_step, k);
			const struct pp_replay_thread *other;
			const struct pp_replay_step *of;

			if (step->kind != PP_REPLAY_AWAIT)
				continue;
			other = model->threads->pdata[step->of.thread];
			of = &g_array_index(other->steps, struct pp_replay_step, step->of.step);
			if (of->kind != PP_REPLAY_NOTIFY)
				continue;
			step->kind = PP_REPLAY_NOTIFIED;
			step->notified.object = of->object;
			step->notified.count = counts[of->rank];
		}
	}
}

static int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t median_wake(const struct pp_replay_builder *self)
{
	if (!self->wakes->len)
		return WAKE_NS;
	qsort(self->wakes->data, self->wakes->len, sizeof(int64_t), compare_ns);
	return g_array_index(self->wakes, int64_t, self->wakes->len / 2);
}

static void count_gaps(struct pp_replay_builder *self)
{
	for (guint i = 0; i < self->tracks->len; i++) {
		const struct track *track = self->tracks->pdata[i];

		if (!track)
			continue;
		self->gaps.lost_events += track->thread->events_lost;
		self->gaps.only_counted +=
		    track->thread->sync_since_ns != 0 || track->thread->process->only_waits;
	}
}

static uint32_t number_of(void *data, uint32_t serial)
{
	const struct track *track = track_at(data, serial);

	return track ? track->number : UINT32_MAX;
}

static void finish_units(struct pp_replay_builder *self, struct pp_replay_model *model,
			 int64_t end_ns)
{
	g_autofree uint32_t *serials = g_new0(uint32_t, model->threads->len);

	for (guint i = 0; i < self->tracks->len; i++)
		if (self->tracks->pdata[i])
			serials[((const struct track *)self->tracks->pdata[i])->number] = i;
	pp_replay_units_finish(self->units, model, self->mapped, serials, end_ns);
}

struct pp_replay_model *pp_replay_builder_finish(struct pp_replay_builder *self, uint32_t n_cpus,
						 int64_t end_ns, struct pp_replay_gaps *ret)
{
	struct pp_replay_model *model = pp_replay_model_new();
	int64_t begin_ns = INT64_MAX, last_ns = INT64_MIN;

	pp_thread_states_finish(self->states, end_ns);
	pp_objects_finish(&self->objects, end_ns);
	for (guint i = 0; i < self->tracks->len; i++) {
		const struct track *track = self->tracks->pdata[i];

		if (!track || track->thread->start_ns == PP_TIME_UNKNOWN)
			continue;
		begin_ns = MIN(begin_ns, track->thread->start_ns);
		last_ns = MAX(last_ns, track->until_ns);
	}
	model->costs = pp_replay_contention_costs(self->contention);
	join_creations(self);
	number_threads(self, model, begin_ns, MAX(last_ns, begin_ns));
	pp_replay_numbers_apply(self->numbers);
	link_steps(self);
	link_notified(self, model);
	add_objects(self, model);
	count_gaps(self);
	if (self->shares)
		pp_replay_shares_finish(self->shares, model, number_of, self);
	if (self->units)
		finish_units(self, model, end_ns);
	model->n_cpus = n_cpus;
	model->others = pp_replay_others_count(self->others, n_cpus);
	model->recorded_ns = MAX(last_ns - begin_ns, 0);
	model->quantum_ns = QUANTUM_NS;
	model->wake_ns = median_wake(self);
	*ret = self->gaps;
	return model;
}

/* --- the builder ------------------------------------------------------------------------------ */

static void track_free(void *data)
{
	struct track *track = data;

	if (!track)
		return;
	g_array_unref(track->steps);
	pp_replay_contender_done(&track->contender);
	g_free(track);
}

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
	self->tracks = g_ptr_array_new_with_free_func(track_free);
	self->mapped = g_ptr_array_new();
	self->creations = g_array_new(FALSE, FALSE, sizeof(struct creation));
	self->sites = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	self->addresses = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->wakes = g_array_new(FALSE, FALSE, sizeof(int64_t));
	self->others = pp_replay_others_new();
	self->numbers = pp_replay_numbers_new();
	self->contention = pp_replay_contention_new();
	self->states = pp_thread_states_new(context, &self->thread_listener, NULL);
	return self;
}

void pp_replay_builder_share(struct pp_replay_builder *self, const GPtrArray *functions)
{
	self->shares = pp_replay_shares_new(self->context->namer, functions);
}

void pp_replay_builder_accesses(struct pp_replay_builder *self)
{
	self->units = pp_replay_units_new(self->context);
}

void pp_replay_builder_event(struct pp_replay_builder *self, const struct pp_event *event)
{
	if (self->units && event->kind != PP_EVENT_SAMPLE)
		pp_replay_units_event(self->units, event);
	if (PP_EVENT_MASK(event->kind) & PP_ACCESS_KINDS)
		return;
	if (event->kind == PP_EVENT_SAMPLE) {
		if (self->shares && event->thread)
			pp_replay_shares_sample(self->shares, event,
						track_of(self, event->thread)->steps->len);
		return;
	}
	if (event->kind == PP_EVENT_WAKING) {
		struct track *waker =
		    event->waking.waker ? track_at(self, event->waking.waker->serial) : NULL;

		pp_wait_ends_waking(&self->ends, event);
		if (waker)
			pp_replay_contention_wakes(self->contention, &waker->contender,
						   event->time_ns);
	}
	pp_thread_states_event(self->states, event);
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
	g_array_unref(self->wakes);
	pp_replay_others_free(self->others);
	pp_replay_shares_free(self->shares);
	pp_replay_units_free(self->units);
	pp_replay_contention_free(self->contention);
	g_free(self);
}
