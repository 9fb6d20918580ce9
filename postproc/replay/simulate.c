/* SPDX-License-Identifier: MIT */
/*
 * A queue of events drives the simulation: a thread becomes ready, or a CPU has reached the end of
 * its thread's CPU time or turn. A thread that gets a CPU performs operations until it needs CPU
 * time or blocks.
 */
#include "replay/simulate.h"

#include "replay/heap.h"

#define NONE UINT32_MAX

enum { EVENT_READY, EVENT_CPU };

/* How many quanta a part of a thread of another program takes: its work and its pause. */
#define PART_QUANTA 8

struct runner {
	const struct pp_replay_step *steps;
	uint32_t at;	  /* number of the current step */
	uint64_t left_ns; /* CPU time before its operation */
	uint32_t cpu;	  /* NONE: it has none */
	uint32_t next;	  /* in the queue of an object */
	bool is_granted;  /* its operation is done when it gets a CPU */
	bool is_spinning; /* in the queue of a lock, on its CPU if it has one */
	bool is_ended;
	bool is_other;	       /* of another program; it has no steps */
	int64_t wait_since_ns; /* for an object; -1: it does not wait */
};

struct cpu {
	uint32_t runner; /* NONE: idle */
	int64_t since_ns, slice_begin_ns, slice_end_ns;
	uint32_t tag; /* of its valid event */
};

/* A lock, semaphore or barrier. */
struct object {
	uint32_t owner, depth; /* of a lock; NONE: it has no exclusive one */
	uint32_t count;	       /* readers; value; arrived */
	int64_t since_ns;
	uint32_t first, last; /* queue of runners; NONE: empty */
};

struct simulator {
	const struct pp_replay_model *model;
	const struct pp_simulation *how;
	struct pp_simulated *result;
	struct runner *runners;
	struct pp_heap *awaits; /* by runner: those that await a step of it, by step */
	struct cpu *cpus;
	struct object *objects;
	uint32_t *ready; /* ring of runners */
	uint32_t n_runners, n_others, first_ready, n_ready, n_idle, n_left;
	struct pp_heap events;
	int64_t now_ns;
	uint64_t random;
};

/* --- time ------------------------------------------------------------------------------------- */

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
static uint64_t next_random(struct simulator *self)
{
	uint64_t x = self->random += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static void ready_at(struct simulator *self, uint32_t number, int64_t ns)
{
	pp_heap_add(&self->events, (uint64_t)ns, number, EVENT_READY);
}

static void wake(struct simulator *self, uint32_t number)
{
	int64_t ns = self->model->wake_ns;

	ns = ns / 2 + (int64_t)(next_random(self) % (uint64_t)(ns + 1));
	ready_at(self, number, self->now_ns + ns);
}

static struct pp_simulated_object *sums_of(const struct simulator *self, uint32_t object)
{
	return &g_array_index(self->result->objects, struct pp_simulated_object, object);
}

/* --- CPUs ------------------------------------------------------------------------------------- */

/* The CPU's next event: the end of the thread's CPU time before its operation, or of its slice. */
static void plan(struct simulator *self, uint32_t number)
{
	struct cpu *cpu = &self->cpus[number];
	const struct runner *runner = &self->runners[cpu->runner];
	int64_t end_ns = cpu->slice_end_ns;

	if (!runner->is_spinning)
		end_ns = MIN(end_ns, self->now_ns + (int64_t)runner->left_ns);
	cpu->since_ns = self->now_ns;
	cpu->tag++;
	/* the tag in the upper half: ready events have 0 there */
	pp_heap_add(&self->events, (uint64_t)end_ns, number, EVENT_CPU | cpu->tag << 1);
}

static void count_time(struct simulator *self, struct cpu *cpu)
{
	struct runner *runner = &self->runners[cpu->runner];
	int64_t ns = self->now_ns - cpu->since_ns;

	if (!runner->is_other)
		self->result->cpu_ns += ns;
	if (!runner->is_spinning)
		runner->left_ns -= MIN((uint64_t)ns, runner->left_ns);
	cpu->since_ns = self->now_ns;
}

static void leave_cpu(struct simulator *self, struct runner *runner)
{
	struct cpu *cpu = &self->cpus[runner->cpu];

	cpu->runner = NONE;
	cpu->tag++;
	runner->cpu = NONE;
	self->n_idle++;
}

static void push_last(struct simulator *self, uint32_t number)
{
	self->ready[(self->first_ready + self->n_ready++) % self->n_runners] = number;
}

static void push_first(struct simulator *self, uint32_t number)
{
	self->first_ready = (self->first_ready + self->n_runners - 1) % self->n_runners;
	self->ready[self->first_ready] = number;
	self->n_ready++;
}

static int64_t quantum(const struct simulator *self)
{
	return MAX(self->model->quantum_ns, 1);
}

/* Takes its CPU from the thread that has had one for longest, if it is long enough. */
static void preempt(struct simulator *self)
{
	struct cpu *longest = &self->cpus[0];
	uint32_t number;

	for (uint32_t i = 1; i < self->how->n_cpus; i++)
		if (self->cpus[i].slice_begin_ns < longest->slice_begin_ns)
			longest = &self->cpus[i];
	number = longest->runner;
	if (self->now_ns - longest->slice_begin_ns < quantum(self) / 3)
		return;
	count_time(self, longest);
	leave_cpu(self, &self->runners[number]);
	push_last(self, number);
}

static void on_ready(struct simulator *self, uint32_t number)
{
	if (self->n_idle == 0 && !self->runners[number].is_other)
		preempt(self);
	if (self->runners[number].is_other)
		push_last(self, number);
	else
		push_first(self, number);
}

/* --- queues of objects ------------------------------------------------------------------------ */

static void enqueue(struct simulator *self, struct object *object, uint32_t number)
{
	self->runners[number].next = NONE;
	if (object->first == NONE)
		object->first = number;
	else
		self->runners[object->last].next = number;
	object->last = number;
}

/* Removes the runner behind `before`, or the first one. */
static uint32_t dequeue(struct simulator *self, struct object *object, uint32_t before)
{
	uint32_t number = before == NONE ? object->first : self->runners[before].next;
	uint32_t next = self->runners[number].next;

	if (before == NONE)
		object->first = next;
	else
		self->runners[before].next = next;
	if (next == NONE)
		object->last = before;
	return number;
}

static void begin_wait(struct simulator *self, struct runner *runner)
{
	if (runner->wait_since_ns < 0)
		runner->wait_since_ns = self->now_ns;
}

static void end_wait(struct simulator *self, struct runner *runner, uint32_t object)
{
	if (runner->wait_since_ns < 0)
		return;
	sums_of(self, object)->wait_ns += self->now_ns - runner->wait_since_ns;
	sums_of(self, object)->n_waits++;
	runner->wait_since_ns = -1;
}

/* --- operations ------------------------------------------------------------------------------- */

static bool take_lock(struct simulator *self, struct object *object, uint32_t number,
		      enum pp_replay_kind kind)
{
	if (object->owner == number) {
		object->depth++;
		return true;
	}
	if (object->owner != NONE || (kind != PP_REPLAY_RDLOCK && object->count != 0))
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

static void advance(struct simulator *self, uint32_t number);

/* Lets a thread that spins on its CPU have the lock. Returns false if there is none. */
static bool give_to_spinner(struct simulator *self, struct object *object)
{
	uint32_t before = NONE;

	for (uint32_t number = object->first; number != NONE;
	     before = number, number = self->runners[number].next) {
		struct runner *runner = &self->runners[number];

		if (!runner->is_spinning || runner->cpu == NONE)
			continue;
		dequeue(self, object, before);
		count_time(self, &self->cpus[runner->cpu]);
		runner->is_spinning = false;
		take_lock(self, object, number, PP_REPLAY_LOCK);
		end_wait(self, runner, runner->steps[runner->at].object);
		runner->is_granted = true;
		/* it goes on at once, behind the event that is being handled */
		runner->left_ns = 0;
		plan(self, runner->cpu);
		return true;
	}
	return false;
}

static enum pp_replay_kind kind_of(const struct simulator *self, uint32_t number)
{
	return self->runners[number].steps[self->runners[number].at].kind;
}

/* The lock is free, or has readers only. */
static void wake_waiters(struct simulator *self, struct object *object)
{
	if (give_to_spinner(self, object))
		return;
	while (object->first != NONE) {
		uint32_t number = object->first;
		enum pp_replay_kind kind = kind_of(self, number);
		struct runner *runner = &self->runners[number];

		if (runner->is_spinning)
			return; /* without a CPU: it tries when it has one */
		if (self->how->fair) {
			if (!take_lock(self, object, number, kind))
				return;
			runner->is_granted = true;
			end_wait(self, runner, runner->steps[runner->at].object);
		}
		dequeue(self, object, NONE);
		wake(self, number);
		if (kind != PP_REPLAY_RDLOCK)
			return;
	}
}

static void release_lock(struct simulator *self, uint32_t number, uint32_t at)
{
	struct object *object = &self->objects[at];

	if (object->owner == number) {
		if (--object->depth != 0)
			return;
		object->owner = NONE;
		sums_of(self, at)->hold_ns += self->now_ns - object->since_ns;
	} else if (object->count != 0) {
		object->count--;
	}
	if (object->owner == NONE && object->count == 0)
		wake_waiters(self, object);
}

enum outcome { DONE, BLOCKED, SPINS };

static enum outcome acquire(struct simulator *self, uint32_t number,
			    const struct pp_replay_step *step)
{
	struct runner *runner = &self->runners[number];
	struct object *object = &self->objects[step->object];
	bool has_waiters = self->how->fair && object->first != NONE && object->owner != number;

	if (!has_waiters && take_lock(self, object, number, step->kind)) {
		end_wait(self, runner, step->object);
		return DONE;
	}
	begin_wait(self, runner);
	enqueue(self, object, number);
	if (step->kind != PP_REPLAY_LOCK_SPIN)
		return BLOCKED;
	runner->is_spinning = true;
	return SPINS;
}

static enum outcome sem_wait_(struct simulator *self, uint32_t number,
			      const struct pp_replay_step *step)
{
	struct object *object = &self->objects[step->object];

	if (object->count == 0) {
		begin_wait(self, &self->runners[number]);
		enqueue(self, object, number);
		return BLOCKED;
	}
	object->count--;
	end_wait(self, &self->runners[number], step->object);
	return DONE;
}

static void sem_post_(struct simulator *self, const struct pp_replay_step *step)
{
	struct object *object = &self->objects[step->object];

	object->count++;
	if (object->first != NONE)
		wake(self, dequeue(self, object, NONE));
}

static enum outcome arrive(struct simulator *self, uint32_t number,
			   const struct pp_replay_step *step)
{
	struct object *object = &self->objects[step->object];
	const struct pp_replay_object *of = self->model->objects->pdata[step->object];

	if (++object->count < of->count) {
		begin_wait(self, &self->runners[number]);
		enqueue(self, object, number);
		return BLOCKED;
	}
	object->count = 0;
	while (object->first != NONE) {
		uint32_t waiter = dequeue(self, object, NONE);

		end_wait(self, &self->runners[waiter], step->object);
		self->runners[waiter].is_granted = true;
		wake(self, waiter);
	}
	return DONE;
}

static enum outcome await(struct simulator *self, uint32_t number,
			  const struct pp_replay_step *step)
{
	const struct runner *other = &self->runners[step->of.thread];

	if (other->is_ended || other->at > step->of.step)
		return DONE;
	self->runners[number].is_granted = true;
	pp_heap_add(&self->awaits[step->of.thread], step->of.step, number, 0);
	return BLOCKED;
}

static enum outcome perform(struct simulator *self, uint32_t number,
			    const struct pp_replay_step *step)
{
	switch (step->kind) {
	case PP_REPLAY_LOCK:
	case PP_REPLAY_LOCK_SPIN:
	case PP_REPLAY_RDLOCK:
		if (self->how->drops && self->how->drops[step->object])
			return DONE;
		return acquire(self, number, step);
	case PP_REPLAY_UNLOCK:
		if (!self->how->drops || !self->how->drops[step->object])
			release_lock(self, number, step->object);
		return DONE;
	case PP_REPLAY_SEM_WAIT:
		return sem_wait_(self, number, step);
	case PP_REPLAY_SEM_POST:
		sem_post_(self, step);
		return DONE;
	case PP_REPLAY_BARRIER:
		return arrive(self, number, step);
	case PP_REPLAY_AWAIT:
		return await(self, number, step);
	case PP_REPLAY_SLEEP:
		self->runners[number].is_granted = true;
		ready_at(self, number, self->now_ns + (int64_t)MIN(step->sleep_ns, G_MAXINT64 / 4));
		return BLOCKED;
	case PP_REPLAY_CREATE:
		wake(self, step->thread);
		return DONE;
	default:
		return DONE;
	}
}

/* The step has been replayed. Returns false if the thread has ended. */
static bool next_step(struct simulator *self, uint32_t number)
{
	struct runner *runner = &self->runners[number];
	const struct pp_replay_step *step = &runner->steps[runner->at];
	struct pp_heap *awaits = &self->awaits[number];
	struct pp_heap_entry first;

	while (step->awaited && awaits->n != 0 && awaits->entries[0].key <= runner->at) {
		pp_heap_take(awaits, &first);
		wake(self, first.value);
	}
	runner->is_ended = step->kind == PP_REPLAY_EXIT;
	if (runner->is_ended) {
		self->n_left--;
		return false;
	}
	runner->at++;
	runner->left_ns = runner->steps[runner->at].cpu_ns;
	return true;
}

/* A thread of another program. */
static void go_on(struct simulator *self, uint32_t number)
{
	struct runner *runner = &self->runners[number];
	uint64_t part = self->how->others % 1000, all_ns = PART_QUANTA * (uint64_t)quantum(self);
	bool is_part = part != 0 && number == self->n_runners - 1;

	if (runner->left_ns == 0 && runner->is_granted) {
		runner->is_granted = false;
		ready_at(self, number, self->now_ns + (int64_t)(all_ns * (1000 - part) / 1000));
		leave_cpu(self, runner);
		return;
	}
	if (runner->left_ns == 0) {
		runner->left_ns = is_part ? MAX(all_ns * part / 1000, 1) : all_ns;
		runner->is_granted = is_part;
	}
	plan(self, runner->cpu);
}

/* Runs a thread that has a CPU until it needs CPU time, or blocks. */
static void advance(struct simulator *self, uint32_t number)
{
	struct runner *runner = &self->runners[number];

	for (;;) {
		enum outcome outcome;

		if (runner->is_other) {
			go_on(self, number);
			return;
		}
		self->result->n_events++;
		if (runner->is_granted) {
			runner->is_granted = false;
		} else {
			if (runner->left_ns > 0) {
				plan(self, runner->cpu);
				return;
			}
			outcome = perform(self, number, &runner->steps[runner->at]);
			if (outcome == SPINS) {
				plan(self, runner->cpu);
				return;
			}
			if (outcome == BLOCKED) {
				leave_cpu(self, runner);
				return;
			}
		}
		if (!next_step(self, number)) {
			leave_cpu(self, runner);
			return;
		}
	}
}

/* A thread that lost its CPU while it waited for a spin lock tries again. */
static void try_again(struct simulator *self, uint32_t number)
{
	struct runner *runner = &self->runners[number];
	uint32_t at = runner->steps[runner->at].object, before = NONE;
	struct object *object = &self->objects[at];

	if (!take_lock(self, object, number, PP_REPLAY_LOCK)) {
		plan(self, runner->cpu);
		return;
	}
	for (uint32_t other = object->first; other != number; other = self->runners[other].next)
		before = other;
	dequeue(self, object, before);
	runner->is_spinning = false;
	runner->is_granted = true;
	end_wait(self, runner, at);
	advance(self, number);
}

static void dispatch(struct simulator *self)
{
	while (self->n_idle != 0 && self->n_ready != 0) {
		uint32_t number = self->ready[self->first_ready], at = 0;

		self->first_ready = (self->first_ready + 1) % self->n_runners;
		self->n_ready--;
		while (self->cpus[at].runner != NONE)
			at++;
		self->cpus[at].runner = number;
		self->cpus[at].since_ns = self->now_ns;
		self->cpus[at].slice_begin_ns = self->now_ns;
		self->cpus[at].slice_end_ns = self->now_ns + quantum(self);
		self->runners[number].cpu = at;
		self->n_idle--;
		if (self->runners[number].is_spinning)
			try_again(self, number);
		else
			advance(self, number);
	}
}

/* Its CPU time is over: it goes on with its operation. */
static bool is_due(const struct runner *runner)
{
	if (runner->is_other)
		return runner->left_ns == 0 && runner->is_granted;
	return runner->left_ns == 0 && !runner->is_spinning;
}

static void on_cpu(struct simulator *self, uint32_t at)
{
	struct cpu *cpu = &self->cpus[at];
	uint32_t number = cpu->runner;
	struct runner *runner = &self->runners[number];

	count_time(self, cpu);
	if (self->now_ns >= cpu->slice_end_ns) {
		if (self->n_ready != 0 && !is_due(runner)) {
			leave_cpu(self, runner);
			push_last(self, number);
			return;
		}
		cpu->slice_end_ns = self->now_ns + quantum(self);
	}
	if (runner->is_spinning)
		plan(self, at);
	else
		advance(self, number);
}

/* --- the simulation --------------------------------------------------------------------------- */

static void begin(struct simulator *self)
{
	const struct pp_replay_model *model = self->model;

	self->n_left = model->threads->len;
	self->n_others = (self->how->others + 999) / 1000;
	self->n_runners = self->n_left + self->n_others;
	self->n_idle = self->how->n_cpus;
	self->random = self->how->seed;
	self->runners = g_new0(struct runner, self->n_runners);
	self->awaits = g_new0(struct pp_heap, self->n_runners);
	self->ready = g_new(uint32_t, self->n_runners);
	self->cpus = g_new0(struct cpu, self->how->n_cpus);
	self->objects = g_new0(struct object, model->objects->len);
	self->result->objects =
	    g_array_sized_new(FALSE, TRUE, sizeof(struct pp_simulated_object), model->objects->len);
	g_array_set_size(self->result->objects, model->objects->len);
	for (uint32_t i = 0; i < self->how->n_cpus; i++)
		self->cpus[i].runner = NONE;
	for (guint i = 0; i < model->objects->len; i++) {
		const struct pp_replay_object *object = model->objects->pdata[i];

		self->objects[i] = (struct object){.owner = NONE, .first = NONE, .last = NONE};
		if (object->kind == PP_REPLAY_OBJECT_SEM)
			self->objects[i].count = object->count;
	}
	for (uint32_t i = model->threads->len; i < self->n_runners; i++) {
		self->runners[i] = (struct runner){.cpu = NONE, .next = NONE, .is_other = true};
		ready_at(self, i, 0);
	}
	for (uint32_t i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];

		self->runners[i] = (struct runner){
		    .steps = (const struct pp_replay_step *)thread->steps->data,
		    .left_ns = ((const struct pp_replay_step *)thread->steps->data)->cpu_ns,
		    .cpu = NONE,
		    .next = NONE,
		    .wait_since_ns = -1,
		};
		if (!thread->has_creator)
			ready_at(self, i, MAX(thread->start_ns, 0));
	}
}

static void done(struct simulator *self)
{
	for (uint32_t i = 0; i < self->n_runners; i++)
		pp_heap_done(&self->awaits[i]);
	pp_heap_done(&self->events);
	g_free(self->runners);
	g_free(self->awaits);
	g_free(self->ready);
	g_free(self->cpus);
	g_free(self->objects);
}

void pp_simulate(const struct pp_replay_model *model, const struct pp_simulation *how,
		 struct pp_simulated *ret)
{
	struct simulator self = {.model = model, .how = how, .result = ret};
	struct pp_heap_entry event;

	*ret = (struct pp_simulated){0};
	begin(&self);
	while (self.n_left != 0 && pp_heap_take(&self.events, &event)) {
		if ((event.tag & 1) == EVENT_CPU &&
		    event.tag >> 1 != (self.cpus[event.value].tag & (UINT32_MAX >> 1)))
			continue; /* the thread has left the CPU since */
		self.now_ns = (int64_t)event.key;
		if ((event.tag & 1) == EVENT_READY)
			on_ready(&self, event.value);
		else
			on_cpu(&self, event.value);
		dispatch(&self);
	}
	ret->ns = self.now_ns;
	ret->n_stuck = self.n_left;
	done(&self);
}

void pp_simulated_done(struct pp_simulated *simulated)
{
	g_array_unref(simulated->objects);
}
