/* SPDX-License-Identifier: MIT */
/*
 * Counts of semaphores and notifications go on where they were at the begin of the part. A barrier
 * that only some of its threads have passed at an end of the part is none for the others.
 */
#include "replay/cut.h"

#include <stdlib.h>
#include <string.h>

struct cut {
	struct pp_replay_model *model;
	const struct pp_replay_cut_thread *threads;
	int64_t *shift;	  /* by thread: what is added to numbers of its steps */
	uint32_t *last;	  /* by thread: the number of its last step, before the cut */
	int64_t *counts;  /* by object, before the part: posts - waits; notifications; arrivals */
	bool *is_created; /* by thread: a step of the part creates it */
	struct pp_replay_cut_sums sums;
};

static struct pp_replay_thread *thread_at(const struct cut *self, uint32_t number)
{
	return self->model->threads->pdata[number];
}

static struct pp_replay_step *step_at(const GArray *steps, uint32_t at)
{
	return &g_array_index(steps, struct pp_replay_step, at);
}

/* --- locks ------------------------------------------------------------------------------------ */

/* Adds the step to the acquisitions that are open, or takes its acquisition out of them. */
static void follow(GArray *held, const struct pp_replay_step *step)
{
	if (pp_replay_acquires(step->kind)) {
		g_array_append_vals(held, step, 1);
		return;
	}
	for (guint i = held->len; step->kind == PP_REPLAY_UNLOCK && i-- > 0;)
		if (step_at(held, i)->object == step->object) {
			g_array_remove_index(held, i);
			return;
		}
}

/* The acquisitions that are open before that step. The caller unrefs the array. */
static GArray *find_held(const GArray *steps, uint32_t n)
{
	GArray *held = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_step));

	for (uint32_t i = 0; i < n; i++)
		follow(held, step_at(steps, i));
	for (guint i = 0; i < held->len; i++) {
		step_at(held, i)->cpu_ns = 0;
		step_at(held, i)->tries = false;
		step_at(held, i)->rank = PP_REPLAY_NO_RANK;
	}
	return held;
}

/* Releases, before the last step, the locks that the thread then has. */
static void release_held(GArray *steps)
{
	g_autoptr(GArray) held = find_held(steps, steps->len);

	for (guint i = held->len; i-- > 0;) {
		struct pp_replay_step *exit = step_at(steps, steps->len - 1);
		struct pp_replay_step release = {.cpu_ns = exit->cpu_ns,
						 .kind = PP_REPLAY_UNLOCK,
						 .object = step_at(held, i)->object};

		exit->cpu_ns = 0;
		g_array_insert_val(steps, steps->len - 1, release);
	}
}

/* --- threads ---------------------------------------------------------------------------------- */

static void count_before(struct cut *self, const struct pp_replay_step *step)
{
	switch (step->kind) {
	case PP_REPLAY_SEM_POST:
	case PP_REPLAY_NOTIFY:
	case PP_REPLAY_BARRIER:
		self->counts[step->object]++;
		break;
	case PP_REPLAY_SEM_WAIT:
		self->counts[step->object]--;
		break;
	default:
		break;
	}
}

static const char *name_of(const struct cut *self, uint32_t object)
{
	return ((const struct pp_replay_object *)self->model->objects->pdata[object])->name;
}

/* The parts of that step are now those of the CPU time that remains of it. */
static void scale_parts(const struct cut *self, uint32_t number, uint32_t at, uint64_t before_ns,
			uint64_t after_ns)
{
	const GArray *parts = self->model->parts;

	for (guint i = pp_replay_find_part(self->model, number, at); i < parts->len; i++) {
		struct pp_replay_function_part *part =
		    &g_array_index(parts, struct pp_replay_function_part, i);

		if (part->thread != number || part->step != at)
			return;
		part->share = MIN(part->share * (double)before_ns / (double)MAX(after_ns, 1), 1);
	}
}

static void cut_thread(struct cut *self, uint32_t number)
{
	struct pp_replay_thread *thread = thread_at(self, number);
	uint32_t n = MIN(self->threads[number].n_before, thread->steps->len - 1);
	g_autoptr(GArray) held = find_held(thread->steps, n);
	struct pp_replay_step *first;
	uint64_t first_ns;

	self->last[number] = thread->steps->len - 1;

	for (uint32_t i = 0; i < n; i++)
		count_before(self, step_at(thread->steps, i));
	if (n)
		g_array_remove_range(thread->steps, 0, n);
	first = step_at(thread->steps, 0);
	first_ns = first->cpu_ns;
	first->cpu_ns -= MIN(first_ns, self->threads[number].cpu_ns);
	scale_parts(self, number, n, first_ns, first->cpu_ns);
	if (held->len)
		g_array_insert_vals(thread->steps, 0, held->data, held->len);
	release_held(thread->steps);
	self->shift[number] = (int64_t)held->len - n;
	self->sums.n_before += n;
	for (guint i = 0; i < held->len; i++)
		g_ptr_array_add(self->sums.held,
				g_strdup_printf("%s by %s", name_of(self, step_at(held, i)->object),
						thread->name));
}

/* Threads that no step creates any more begin with the part, or when they did after that. */
static void begin_threads(const struct cut *self, int64_t from_ns)
{
	for (uint32_t i = 0; i < self->model->threads->len; i++) {
		struct pp_replay_thread *thread = thread_at(self, i);

		thread->start_ns = MAX(thread->start_ns - from_ns, 0);
		thread->has_creator &= self->is_created[i];
	}
}

/* --- references to steps and counts ----------------------------------------------------------- */

static void link_step(const struct cut *self, struct pp_replay_step *step)
{
	if (step->kind == PP_REPLAY_CREATE)
		self->is_created[step->thread] = true;
	if (step->kind == PP_REPLAY_AWAIT) {
		if (step->of.step == self->last[step->of.thread])
			step->of.step = thread_at(self, step->of.thread)->steps->len - 1;
		else if (step->of.step < self->threads[step->of.thread].n_before)
			step->kind = PP_REPLAY_SIGNAL;
		else
			step->of.step = (uint32_t)(step->of.step + self->shift[step->of.thread]);
	}
	if (step->kind == PP_REPLAY_NOTIFIED) {
		if (step->notified.count <= self->counts[step->object])
			step->kind = PP_REPLAY_SIGNAL;
		else
			step->notified.count -= (uint32_t)self->counts[step->object];
	}
}

/* Removes elements of steps before the part; the others begin with thread and step. */
static void link_array(const struct cut *self, GArray *array)
{
	guint size = g_array_get_element_size(array), n = 0;

	for (guint i = 0; i < array->len; i++) {
		char *element = array->data + (size_t)i * size;
		uint32_t *place = (uint32_t *)(void *)element;

		if (place[1] < self->threads[place[0]].n_before)
			continue;
		place[1] = (uint32_t)(place[1] + self->shift[place[0]]);
		memmove(array->data + (size_t)n++ * size, element, size);
	}
	g_array_set_size(array, n);
}

static int compare_ranks(const void *a, const void *b)
{
	uint32_t x = (*(struct pp_replay_step *const *)a)->rank;
	uint32_t y = (*(struct pp_replay_step *const *)b)->rank;

	return (x > y) - (x < y);
}

/* Arrivals at a barrier whose other threads have theirs outside of the part become none. */
static void cut_barrier(const struct cut *self, uint32_t object)
{
	const struct pp_replay_object *of = self->model->objects->pdata[object];
	g_autoptr(GPtrArray) arrivals = g_ptr_array_new();
	uint32_t before = (uint32_t)(self->counts[object] % of->count), n_first, n_last;

	for (uint32_t i = 0; i < self->model->threads->len; i++) {
		const GArray *steps = thread_at(self, i)->steps;

		for (guint k = 0; k < steps->len; k++)
			if (step_at(steps, k)->kind == PP_REPLAY_BARRIER &&
			    step_at(steps, k)->object == object)
				g_ptr_array_add(arrivals, step_at(steps, k));
	}
	if (!arrivals->len)
		return;
	qsort(arrivals->pdata, arrivals->len, sizeof(void *), compare_ranks);
	n_first = MIN(before ? of->count - before : 0, arrivals->len);
	n_last = (arrivals->len - n_first) % of->count;
	for (guint i = 0; i < arrivals->len; i++)
		if (i < n_first || i >= arrivals->len - n_last)
			((struct pp_replay_step *)arrivals->pdata[i])->kind = PP_REPLAY_SIGNAL;
}

static void cut_objects(const struct cut *self)
{
	for (guint i = 0; i < self->model->objects->len; i++) {
		struct pp_replay_object *object = self->model->objects->pdata[i];
		int64_t count = object->count + self->counts[i];

		if (object->kind == PP_REPLAY_OBJECT_SEM)
			object->count = (uint32_t)CLAMP(count, 0, UINT32_MAX);
		else if (object->kind == PP_REPLAY_OBJECT_BARRIER)
			cut_barrier(self, i);
	}
}

struct pp_replay_cut_sums pp_replay_cut(struct pp_replay_model *model,
					const struct pp_replay_cut_thread *threads, int64_t from_ns)
{
	g_autofree int64_t *shift = g_new0(int64_t, model->threads->len);
	g_autofree int64_t *counts = g_new0(int64_t, MAX(model->objects->len, 1));
	g_autofree bool *is_created = g_new0(bool, model->threads->len);
	g_autofree uint32_t *last = g_new0(uint32_t, model->threads->len);
	struct cut self = {model, threads, shift, last, counts, is_created, {0}};

	self.sums.held = g_ptr_array_new_with_free_func(g_free);
	for (uint32_t i = 0; i < model->threads->len; i++)
		cut_thread(&self, i);
	for (uint32_t i = 0; i < model->threads->len; i++) {
		GArray *steps = thread_at(&self, i)->steps;

		for (guint k = 0; k < steps->len; k++)
			link_step(&self, step_at(steps, k));
	}
	link_array(&self, model->accesses);
	link_array(&self, model->parts);
	link_array(&self, model->delays);
	begin_threads(&self, from_ns);
	cut_objects(&self);
	return self.sums;
}
