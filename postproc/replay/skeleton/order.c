/* SPDX-License-Identifier: MIT */
/*
 * Steps are performed one by one without time: of those that the rules permit, the one that was
 * first in the recorded run. A thread whose step must wait is parked at the object, or at the
 * thread whose step it awaits, until something happens there.
 */
#include "replay/heap.h"
#include "replay/skeleton/plan.h"

#define NOBODY UINT32_MAX

struct object {
	uint32_t owner;	  /* of a lock, exclusively; NOBODY */
	uint32_t n;	  /* readers; value; arrived; notifications */
	uint32_t n_taken; /* acquisitions so far */
	uint32_t group;	  /* n_taken when the group of readers, or the round, began */
	GArray *parked;	  /* of uint32_t, threads; NULL */
};

struct thread {
	uint32_t at;
	uint64_t rank;	/* of the last step */
	GArray *parked; /* of uint32_t, threads that await a step; NULL */
};

struct orderer {
	struct pp_plan *plan;
	struct object *objects;
	struct thread *threads;
	struct pp_heap ready; /* threads by the rank of their next step */
	uint32_t n_done;      /* operations but sleeps */
	guint n_left;	      /* threads */
};

static const struct pp_replay_step *original(const struct orderer *self, uint32_t number)
{
	const struct pp_replay_thread *thread = self->plan->model->threads->pdata[number];

	return &g_array_index(thread->steps, struct pp_replay_step, self->threads[number].at);
}

static void set_ready(struct orderer *self, uint32_t number)
{
	struct thread *thread = &self->threads[number];

	thread->rank = MAX(thread->rank, original(self, number)->rank);
	pp_heap_add(&self->ready, thread->rank, number, 0);
}

static bool park(GArray **parked, uint32_t number)
{
	if (!*parked)
		*parked = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(*parked, number);
	return false;
}

static void unpark(struct orderer *self, GArray **parked)
{
	g_autoptr(GArray) before = g_steal_pointer(parked);

	for (guint i = 0; before && i < before->len; i++)
		set_ready(self, g_array_index(before, uint32_t, i));
}

/* --- operations: each returns false if the thread was parked -----------------------------------
 */

static bool take(struct orderer *self, uint32_t number, const struct pp_replay_step *step)
{
	struct object *object = &self->objects[step->object];

	if (object->owner != NOBODY || (step->kind != PP_REPLAY_RDLOCK && object->n != 0))
		return park(&object->parked, number);
	if (step->kind == PP_REPLAY_RDLOCK)
		object->n++;
	else
		object->owner = number;
	return true;
}

static void release(struct orderer *self, uint32_t number, struct object *object)
{
	if (object->owner == number)
		object->owner = NOBODY;
	else if (object->n != 0)
		object->n--;
	if (object->owner == NOBODY)
		unpark(self, &object->parked);
}

static bool await(struct orderer *self, uint32_t number, const struct pp_replay_step *step)
{
	struct thread *other = &self->threads[step->of.thread];

	return other->at > step->of.step || park(&other->parked, number);
}

static bool is_notified(uint32_t number, const struct pp_replay_step *step, struct object *object)
{
	return object->n >= step->notified.count || park(&object->parked, number);
}

static bool take_item(uint32_t number, struct object *object)
{
	if (object->n == 0)
		return park(&object->parked, number);
	object->n--;
	return true;
}

/* The step is possible: its turn. */
static void give_turn(struct orderer *self, struct pp_replay_step *step)
{
	bool is_shared = step->kind == PP_REPLAY_RDLOCK || step->kind == PP_REPLAY_BARRIER;
	struct object *object;

	if (self->plan->order == PP_SKELETON_ALL) {
		if (step->kind != PP_REPLAY_SLEEP)
			step->rank = self->n_done++;
		return;
	}
	if (step->kind > PP_REPLAY_BARRIER || step->kind == PP_REPLAY_UNLOCK ||
	    step->kind == PP_REPLAY_SEM_POST)
		return;
	object = &self->objects[step->object];
	step->rank = is_shared ? object->group : object->n_taken;
	object->n_taken++;
	if (!is_shared)
		object->group = object->n_taken;
}

static void pass(struct orderer *self, uint32_t number)
{
	struct thread *thread = &self->threads[number];
	const struct pp_replay_step *step = original(self, number);

	thread->at++;
	if (step->awaited)
		unpark(self, &thread->parked);
	if (step->kind == PP_REPLAY_EXIT)
		self->n_left--;
	else
		set_ready(self, number);
}

/* The thread has arrived. The last one lets all pass. */
static void arrive(struct orderer *self, uint32_t number, uint32_t at)
{
	struct object *object = &self->objects[at];
	const struct pp_replay_object *of = self->plan->model->objects->pdata[at];
	g_autoptr(GArray) passed = NULL;

	park(&object->parked, number);
	if (++object->n < of->count)
		return;
	object->n = 0;
	object->group = object->n_taken;
	passed = g_steal_pointer(&object->parked);
	for (guint i = 0; i < passed->len; i++)
		pass(self, g_array_index(passed, uint32_t, i));
}

static void perform(struct orderer *self, uint32_t number)
{
	struct pp_replay_step *step = &self->plan->steps[number][self->threads[number].at];
	bool is_done = true;

	if (step->kind <= PP_REPLAY_RDLOCK)
		is_done = take(self, number, step);
	else if (step->kind == PP_REPLAY_AWAIT)
		is_done = await(self, number, step);
	else if (step->kind == PP_REPLAY_SEM_WAIT)
		is_done = take_item(number, &self->objects[step->object]);
	else if (step->kind == PP_REPLAY_NOTIFIED)
		is_done = is_notified(number, step, &self->objects[step->notified.object]);
	if (!is_done)
		return;
	give_turn(self, step);
	switch (step->kind) {
	case PP_REPLAY_UNLOCK:
		release(self, number, &self->objects[step->object]);
		break;
	case PP_REPLAY_SEM_POST:
	case PP_REPLAY_NOTIFY:
		self->objects[step->object].n++;
		unpark(self, &self->objects[step->object].parked);
		break;
	case PP_REPLAY_CREATE:
		self->threads[step->thread].rank = self->threads[number].rank;
		set_ready(self, step->thread);
		break;
	case PP_REPLAY_BARRIER:
		arrive(self, number, step->object);
		return;
	default:
		break;
	}
	pass(self, number);
}

/* --- the order -------------------------------------------------------------------------------- */

static void begin(struct orderer *self)
{
	const struct pp_replay_model *model = self->plan->model;

	self->n_left = model->threads->len;
	self->objects = g_new0(struct object, model->objects->len);
	self->threads = g_new0(struct thread, model->threads->len);
	for (guint i = 0; i < model->objects->len; i++) {
		const struct pp_replay_object *object = model->objects->pdata[i];

		self->objects[i].owner = NOBODY;
		if (object->kind == PP_REPLAY_OBJECT_SEM)
			self->objects[i].n = object->count;
	}
	for (guint i = 0; i < model->threads->len; i++)
		if (!((const struct pp_replay_thread *)model->threads->pdata[i])->has_creator)
			set_ready(self, i);
}

static void add_stuck(GArray *stuck, const GArray *parked, const struct thread *threads)
{
	for (guint i = 0; parked && i < parked->len; i++) {
		uint32_t number = g_array_index(parked, uint32_t, i);
		struct pp_plan_stuck one = {number, threads[number].at};

		g_array_append_val(stuck, one);
	}
}

static char *describe_stuck(const struct orderer *self)
{
	const struct pp_replay_model *model = self->plan->model;
	g_autoptr(GArray) stuck = g_array_new(FALSE, FALSE, sizeof(struct pp_plan_stuck));

	for (guint i = 0; i < model->objects->len; i++)
		add_stuck(stuck, self->objects[i].parked, self->threads);
	for (guint i = 0; i < model->threads->len; i++)
		add_stuck(stuck, self->threads[i].parked, self->threads);
	if (!stuck->len)
		return pp_plan_not_created_text(self->n_left);
	return pp_plan_stuck_text(model, (const struct pp_plan_stuck *)stuck->data, stuck->len);
}

static void done(struct orderer *self)
{
	for (guint i = 0; i < self->plan->model->objects->len; i++)
		g_clear_pointer(&self->objects[i].parked, g_array_unref);
	for (guint i = 0; i < self->plan->model->threads->len; i++)
		g_clear_pointer(&self->threads[i].parked, g_array_unref);
	pp_heap_done(&self->ready);
	g_free(self->objects);
	g_free(self->threads);
}

char *pp_plan_order(struct pp_plan *plan, enum pp_skeleton_order order)
{
	struct orderer self = {.plan = plan};
	struct pp_heap_entry next;
	char *wrong = NULL;

	plan->order = order;
	begin(&self);
	while (pp_heap_take(&self.ready, &next))
		perform(&self, next.value);
	if (self.n_left != 0)
		wrong = describe_stuck(&self);
	done(&self);
	return wrong;
}
