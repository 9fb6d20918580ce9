/* SPDX-License-Identifier: MIT */
/* All threads are asked in turn, from a random one on, whether their next step is possible. */
#include "untimed.h"

struct object {
	uint32_t owner, depth, n; /* n: readers; value; notifications */
};

struct runner {
	const struct pp_replay_model *model;
	struct object *objects;
	uint32_t *at;
	bool *runs; /* it was created, and has not ended */
	GArray *log;
};

static const struct pp_replay_step *next_of(const struct runner *self, uint32_t number)
{
	const struct pp_replay_thread *thread = self->model->threads->pdata[number];

	return &g_array_index(thread->steps, struct pp_replay_step, self->at[number]);
}

static uint32_t count_arrived(const struct runner *self, uint32_t object)
{
	uint32_t n = 0;

	for (guint i = 0; i < self->model->threads->len; i++)
		n += self->runs[i] && next_of(self, i)->kind == PP_REPLAY_BARRIER &&
		     next_of(self, i)->object == object;
	return n;
}

static bool is_possible(const struct runner *self, uint32_t number)
{
	const struct pp_replay_step *step = next_of(self, number);
	const struct object *object =
	    step->kind <= PP_REPLAY_SEM_WAIT ? &self->objects[step->object] : NULL;

	switch (step->kind) {
	case PP_REPLAY_LOCK:
	case PP_REPLAY_LOCK_SPIN:
		return object->owner == number || (object->owner == UINT32_MAX && !object->n);
	case PP_REPLAY_RDLOCK:
		return object->owner == number || object->owner == UINT32_MAX;
	case PP_REPLAY_SEM_WAIT:
		return object->n != 0;
	case PP_REPLAY_NOTIFIED:
		return self->objects[step->notified.object].n >= step->notified.count;
	case PP_REPLAY_AWAIT:
		return self->at[step->of.thread] > step->of.step;
	case PP_REPLAY_BARRIER:
		return count_arrived(self, step->object) >=
		       ((const struct pp_replay_object *)self->model->objects->pdata[step->object])
			   ->count;
	default:
		return true;
	}
}

static void take(struct object *object, uint32_t number, enum pp_replay_kind kind)
{
	if (kind == PP_REPLAY_RDLOCK && object->owner != number) {
		object->n++;
	} else {
		object->owner = number;
		object->depth++;
	}
}

static void release(struct object *object, uint32_t number)
{
	if (object->owner != number)
		object->n -= object->n != 0;
	else if (--object->depth == 0)
		object->owner = UINT32_MAX;
}

static void pass(struct runner *self, uint32_t number)
{
	struct untimed_entry entry = {number, self->at[number]};

	g_array_append_val(self->log, entry);
	self->at[number]++;
}

static void pass_barrier(struct runner *self, uint32_t object)
{
	for (guint i = 0; i < self->model->threads->len; i++)
		if (self->runs[i] && next_of(self, i)->kind == PP_REPLAY_BARRIER &&
		    next_of(self, i)->object == object)
			pass(self, i);
}

static void perform(struct runner *self, uint32_t number)
{
	const struct pp_replay_step *step = next_of(self, number);

	if (pp_replay_acquires(step->kind))
		take(&self->objects[step->object], number, step->kind);
	else if (step->kind == PP_REPLAY_UNLOCK)
		release(&self->objects[step->object], number);
	else if (step->kind == PP_REPLAY_SEM_WAIT)
		self->objects[step->object].n--;
	else if (step->kind == PP_REPLAY_SEM_POST || step->kind == PP_REPLAY_NOTIFY)
		self->objects[step->object].n++;
	else if (step->kind == PP_REPLAY_CREATE)
		self->runs[step->thread] = true;
	if (step->kind == PP_REPLAY_BARRIER) {
		pass_barrier(self, step->object);
		return;
	}
	if (step->kind == PP_REPLAY_EXIT)
		self->runs[number] = false;
	pass(self, number);
}

static bool perform_one(struct runner *self, GRand *random)
{
	guint n = self->model->threads->len;
	guint first = (guint)g_rand_int_range(random, 0, (gint32)n);

	for (guint i = 0; i < n; i++) {
		uint32_t number = (first + i) % n;

		if (!self->runs[number] || !is_possible(self, number))
			continue;
		perform(self, number);
		return true;
	}
	return false;
}

GArray *untimed_run(const struct pp_replay_model *model, GRand *random)
{
	struct runner self = {
	    .model = model,
	    .objects = g_new0(struct object, MAX(model->objects->len, 1)),
	    .at = g_new0(uint32_t, model->threads->len),
	    .runs = g_new0(bool, model->threads->len),
	    .log = g_array_new(FALSE, FALSE, sizeof(struct untimed_entry)),
	};

	for (guint i = 0; i < model->objects->len; i++) {
		const struct pp_replay_object *object = model->objects->pdata[i];

		self.objects[i].owner = UINT32_MAX;
		if (object->kind == PP_REPLAY_OBJECT_SEM)
			self.objects[i].n = object->count;
	}
	for (guint i = 0; i < model->threads->len; i++)
		self.runs[i] =
		    !((const struct pp_replay_thread *)model->threads->pdata[i])->has_creator;
	while (perform_one(&self, random))
		continue;
	g_free(self.objects);
	g_free(self.at);
	g_free(self.runs);
	return self.log;
}
