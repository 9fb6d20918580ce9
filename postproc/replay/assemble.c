/* SPDX-License-Identifier: MIT */
/*
 * Tracks, which have serial numbers of threads and steps of others, become threads of a model with
 * numbers of its own.
 */
#include "analysis/state/object_name.h"
#include "replay/build.h"
#include "replay/tracks.h"

#define QUANTUM_NS 3000000 /* which the capture does not tell */

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
		struct track *created = subject ? pp_build_track(self, subject) : NULL;

		if (!created || created->has_creator || created == creation->creator) {
			step->kind = PP_REPLAY_SIGNAL;
			continue;
		}
		created->has_creator = true;
		step->thread = subject->serial;
	}
}

/* A step's CPU time includes that of the release before it, which the replay adds where needed. */
static void take_out_releases(const struct track *track, const struct pp_contention_costs *costs)
{
	for (guint i = 0; track->contended && i < track->contended->len; i++) {
		uint32_t number = g_array_index(track->contended, uint32_t, i);
		struct pp_replay_step *step =
		    &g_array_index(track->steps, struct pp_replay_step, number);

		step->cpu_ns -= MIN(step->cpu_ns, (uint64_t)costs->release_ns);
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
		pp_build_step(track, (struct pp_replay_step){.kind = PP_REPLAY_EXIT});
		g_array_unref(thread->steps);
		thread->steps = g_array_ref(track->steps);
		take_out_releases(track, &model->costs);
	}
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
				step->thread = pp_build_track_at(self, step->thread)->number;
			} else if (step->kind == PP_REPLAY_AWAIT) {
				other = pp_build_track_at(self, step->of.thread);
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

static void count_gaps(struct pp_replay_builder *self)
{
	for (guint i = 0; i < self->tracks->len; i++) {
		const struct track *track = self->tracks->pdata[i];

		if (!track)
			continue;
		self->gaps.lost_events += track->thread->events_lost;
		self->gaps.lost_calls += self->call_times ? track->thread->records_lost : 0;
		self->gaps.only_counted +=
		    track->thread->sync_since_ns != 0 || track->thread->process->only_waits;
	}
}

static uint32_t number_of(void *data, uint32_t serial)
{
	const struct track *track = pp_build_track_at(data, serial);

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

	pp_build_part_finish(self);
	end_ns = pp_build_part_end(self, end_ns);
	pp_thread_states_finish(self->states, end_ns);
	pp_objects_finish(&self->objects, end_ns);
	for (guint i = 0; i < self->tracks->len; i++) {
		const struct track *track = self->tracks->pdata[i];

		if (!track || track->thread->start_ns == PP_TIME_UNKNOWN ||
		    track->contender.until_ns == PP_TIME_UNKNOWN)
			continue;
		begin_ns = MIN(begin_ns, track->thread->start_ns);
		last_ns = MAX(last_ns, track->contender.until_ns);
	}
	self->part.run_ns = begin_ns;
	model->costs = pp_contention_costs(self->contention);
	join_creations(self);
	number_threads(self, model, begin_ns, MAX(last_ns, begin_ns));
	pp_replay_numbers_apply(self->numbers);
	link_steps(self);
	link_notified(self, model);
	add_objects(self, model);
	count_gaps(self);
	if (self->shares)
		pp_replay_shares_finish(self->shares, model, number_of, self);
	if (self->call_times)
		pp_replay_call_times_finish(self->call_times, model, number_of, self, &self->gaps);
	if (self->units)
		finish_units(self, model, end_ns);
	model->n_cpus = n_cpus;
	model->others = pp_replay_others_count(self->others, n_cpus);
	pp_replay_delays_finish(self->delays, model, number_of, self);
	model->recorded_ns = last_ns > begin_ns ? last_ns - begin_ns : 0;
	model->quantum_ns = QUANTUM_NS;
	pp_replay_wakes_finish(self->wakes, model);
	*ret = self->gaps;
	return model;
}
