/* SPDX-License-Identifier: MIT */
/*
 * Locks, semaphores and barriers. Each has a queue of the threads that wait for it, in the order of
 * their arrival; a thread is in one queue at most.
 */
#include "replay/simulate.h"
#include "replay/simulator.h"

static struct pp_simulated_object *sums_of(const struct pp_simulator *self, uint32_t object)
{
	return &g_array_index(self->result->objects, struct pp_simulated_object, object);
}

/* --- queues of objects ------------------------------------------------------------------------ */

static void enqueue(struct pp_simulator *self, struct pp_sim_object *object, uint32_t number)
{
	self->runners[number].next = PP_SIM_NONE;
	if (object->first == PP_SIM_NONE)
		object->first = number;
	else
		self->runners[object->last].next = number;
	object->last = number;
}

/* Removes the runner behind `before`, or the first one. */
static uint32_t dequeue(struct pp_simulator *self, struct pp_sim_object *object, uint32_t before)
{
	uint32_t number = before == PP_SIM_NONE ? object->first : self->runners[before].next;
	uint32_t next = self->runners[number].next;

	if (before == PP_SIM_NONE)
		object->first = next;
	else
		self->runners[before].next = next;
	if (next == PP_SIM_NONE)
		object->last = before;
	return number;
}

static void begin_wait(struct pp_simulator *self, struct pp_sim_runner *runner)
{
	if (runner->wait_since_ns < 0)
		runner->wait_since_ns = self->now_ns;
}

static void end_wait(struct pp_simulator *self, struct pp_sim_runner *runner, uint32_t object)
{
	if (runner->wait_since_ns < 0)
		return;
	sums_of(self, object)->wait_ns += self->now_ns - runner->wait_since_ns;
	sums_of(self, object)->n_waits++;
	runner->wait_since_ns = -1;
}

static bool take_lock(struct pp_simulator *self, struct pp_sim_object *object, uint32_t number,
		      enum pp_replay_kind kind)
{
	if (object->owner == number) {
		object->depth++;
		return true;
	}
	if (object->owner != PP_SIM_NONE || (kind != PP_REPLAY_RDLOCK && object->count != 0))
		return false;
	if (kind == PP_REPLAY_RDLOCK) {
		object->count++;
	} else {
		object->owner = number;
		object->depth = 1;
		object->since_ns = self->now_ns;
	}
	return true;
}

/* Lets a thread that spins on its CPU have the lock. Returns false if there is none. */
static bool give_to_spinner(struct pp_simulator *self, struct pp_sim_object *object)
{
	uint32_t before = PP_SIM_NONE;

	for (uint32_t number = object->first; number != PP_SIM_NONE;
	     before = number, number = self->runners[number].next) {
		struct pp_sim_runner *runner = &self->runners[number];

		if (!runner->is_spinning || runner->cpu == PP_SIM_NONE)
			continue;
		dequeue(self, object, before);
		pp_sim_count_time(self, &self->cpus[runner->cpu]);
		runner->is_spinning = false;
		self->n_spinning--;
		take_lock(self, object, number, PP_REPLAY_LOCK);
		end_wait(self, runner, runner->steps[runner->at].object);
		runner->is_granted = true;
		pp_sim_note_waker(self, number);
		/* it goes on at once, behind the event that is being handled */
		runner->left_ns = 0;
		pp_sim_plan(self, runner->cpu);
		return true;
	}
	return false;
}

static enum pp_replay_kind kind_of(const struct pp_simulator *self, uint32_t number)
{
	return self->runners[number].steps[self->runners[number].at].kind;
}

/* Takes the first thread out of the queue of a lock, and wakes it. */
static void wake_first(struct pp_simulator *self, struct pp_sim_object *object)
{
	const struct pp_contention_costs *costs = &self->model->costs;
	uint32_t number = dequeue(self, object, PP_SIM_NONE);
	struct pp_sim_runner *runner = &self->runners[number];

	if (runner->is_blocking) {
		pp_sim_note_waker(self, number);
		runner->is_woken = true;
		return;
	}
	runner->left_ns = (uint64_t)costs->retry_ns;
	pp_sim_wake_after(self, number, costs->wake_up_ns);
}

/* The lock is free, or has readers only. */
static void wake_waiters(struct pp_simulator *self, struct pp_sim_object *object,
			 struct pp_sim_runner *by)
{
	if (give_to_spinner(self, object))
		return;
	while (object->first != PP_SIM_NONE) {
		uint32_t number = object->first;
		enum pp_replay_kind kind = kind_of(self, number);
		struct pp_sim_runner *runner = &self->runners[number];

		if (runner->is_spinning)
			return; /* without a CPU: it tries when it has one */
		if (self->how->fair) {
			if (!take_lock(self, object, number, kind))
				return;
			runner->is_granted = true;
			end_wait(self, runner, runner->steps[runner->at].object);
		}
		wake_first(self, object);
		by->extra_ns = self->model->costs.release_ns;
		if (kind != PP_REPLAY_RDLOCK)
			return;
	}
}

static void note_missed(struct pp_sim_runner *runner, uint32_t object)
{
	if (!runner->missed)
		runner->missed = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(runner->missed, object);
}

/* True if its last try for the lock was in vain; then this was its release. */
static bool has_missed(struct pp_sim_runner *runner, uint32_t object)
{
	for (guint i = runner->missed ? runner->missed->len : 0; i-- > 0;) {
		if (g_array_index(runner->missed, uint32_t, i) != object)
			continue;
		g_array_remove_index(runner->missed, i);
		return true;
	}
	return false;
}

void pp_sim_release_lock(struct pp_simulator *self, uint32_t number, uint32_t at)
{
	struct pp_sim_object *object = &self->objects[at];

	if (has_missed(&self->runners[number], at))
		return;
	if (object->owner == number) {
		if (--object->depth != 0)
			return;
		object->owner = PP_SIM_NONE;
		sums_of(self, at)->hold_ns += self->now_ns - object->since_ns;
	} else if (object->count != 0) {
		object->count--;
	}
	if (object->owner == PP_SIM_NONE && object->count == 0)
		wake_waiters(self, object, &self->runners[number]);
}

enum pp_sim_outcome pp_sim_acquire(struct pp_simulator *self, uint32_t number,
				   const struct pp_replay_step *step)
{
	struct pp_sim_runner *runner = &self->runners[number];
	struct pp_sim_object *object = &self->objects[step->object];
	bool has_waiters =
	    self->how->fair && object->first != PP_SIM_NONE && object->owner != number;

	if (!has_waiters && take_lock(self, object, number, step->kind)) {
		end_wait(self, runner, step->object);
		return PP_SIM_DONE;
	}
	if (step->tries) {
		note_missed(runner, step->object);
		return PP_SIM_DONE;
	}
	begin_wait(self, runner);
	enqueue(self, object, number);
	if (step->kind == PP_REPLAY_LOCK_SPIN) {
		runner->is_spinning = true;
		self->n_spinning++;
		return PP_SIM_STAYS;
	}
	if (self->model->costs.block_ns == 0)
		return PP_SIM_BLOCKED;
	runner->is_blocking = true;
	runner->left_ns = (uint64_t)self->model->costs.block_ns;
	return PP_SIM_STAYS;
}

enum pp_sim_outcome pp_sim_sem_wait(struct pp_simulator *self, uint32_t number,
				    const struct pp_replay_step *step)
{
	struct pp_sim_object *object = &self->objects[step->object];

	if (object->count == 0) {
		begin_wait(self, &self->runners[number]);
		enqueue(self, object, number);
		return PP_SIM_BLOCKED;
	}
	object->count--;
	end_wait(self, &self->runners[number], step->object);
	return PP_SIM_DONE;
}

void pp_sim_sem_post(struct pp_simulator *self, const struct pp_replay_step *step)
{
	struct pp_sim_object *object = &self->objects[step->object];

	object->count++;
	if (object->first != PP_SIM_NONE)
		pp_sim_wake(self, dequeue(self, object, PP_SIM_NONE));
}

enum pp_sim_outcome pp_sim_arrive(struct pp_simulator *self, uint32_t number,
				  const struct pp_replay_step *step)
{
	struct pp_sim_object *object = &self->objects[step->object];
	const struct pp_replay_object *of = self->model->objects->pdata[step->object];

	if (++object->count < of->count) {
		begin_wait(self, &self->runners[number]);
		enqueue(self, object, number);
		return PP_SIM_BLOCKED;
	}
	object->count = 0;
	while (object->first != PP_SIM_NONE) {
		uint32_t waiter = dequeue(self, object, PP_SIM_NONE);

		end_wait(self, &self->runners[waiter], step->object);
		self->runners[waiter].is_granted = true;
		pp_sim_wake(self, waiter);
	}
	return PP_SIM_DONE;
}

bool pp_sim_spin_again(struct pp_simulator *self, uint32_t number)
{
	struct pp_sim_runner *runner = &self->runners[number];
	uint32_t at = runner->steps[runner->at].object, before = PP_SIM_NONE;
	struct pp_sim_object *object = &self->objects[at];

	if (!take_lock(self, object, number, PP_REPLAY_LOCK))
		return false;
	for (uint32_t other = object->first; other != number; other = self->runners[other].next)
		before = other;
	dequeue(self, object, before);
	runner->is_spinning = false;
	self->n_spinning--;
	runner->is_granted = true;
	end_wait(self, runner, at);
	return true;
}

static bool is_free(const struct pp_sim_object *object)
{
	return object->owner == PP_SIM_NONE && object->count == 0;
}

bool pp_sim_all_spin(const struct pp_simulator *self)
{
	if (self->n_active != self->n_spinning)
		return false;
	for (uint32_t i = 0; i < self->n_runners; i++) {
		const struct pp_sim_runner *runner = &self->runners[i];

		if (runner->is_spinning &&
		    is_free(&self->objects[runner->steps[runner->at].object]))
			return false;
	}
	return true;
}
