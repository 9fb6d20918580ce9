/* SPDX-License-Identifier: MIT */
/*
 * A queue of events drives the simulation: a thread becomes ready, or a CPU has reached the end of
 * its thread's CPU time or turn. A thread that gets a CPU performs operations until it needs CPU
 * time or blocks.
 */
#include "replay/simulate.h"

#include "replay/simulator.h"

/* A part of a thread of another program works and pauses for so many quanta in turn. */
#define PART_QUANTA 8

/* --- the log ---------------------------------------------------------------------------------- */

static void log_creation(const struct pp_simulator *self, uint32_t creator, uint32_t created)
{
	if (!self->how->log)
		return;
	self->how->log->threads[created].creator = creator;
	self->how->log->threads[created].start_ns = self->now_ns;
}

static void log_step(const struct pp_simulator *self, uint32_t number)
{
	const struct pp_sim_runner *runner = &self->runners[number];
	struct pp_simulated_wait wait = {runner->at, runner->waker, runner->blocked_ns,
					 runner->woken_ns};

	g_array_append_val(self->how->log->threads[number].done_ns, self->now_ns);
	if (runner->has_waited)
		g_array_append_val(self->how->log->threads[number].waits, wait);
}

static void begin_log(const struct pp_simulator *self)
{
	struct pp_simulation_log *log = self->how->log;

	if (!log)
		return;
	log->n_threads = self->model->threads->len;
	log->threads = g_new0(struct pp_simulated_thread, log->n_threads);
	for (uint32_t i = 0; i < log->n_threads; i++) {
		const struct pp_replay_thread *thread = self->model->threads->pdata[i];

		log->threads[i] = (struct pp_simulated_thread){
		    .done_ns = g_array_sized_new(FALSE, FALSE, sizeof(int64_t), thread->steps->len),
		    .waits = g_array_new(FALSE, FALSE, sizeof(struct pp_simulated_wait)),
		    .creator = PP_SIMULATED_NONE,
		    .start_ns = MAX(thread->start_ns, 0),
		};
	}
}

void pp_simulation_log_done(struct pp_simulation_log *log)
{
	for (uint32_t i = 0; i < log->n_threads; i++) {
		g_array_unref(log->threads[i].done_ns);
		g_array_unref(log->threads[i].waits);
	}
	g_free(log->threads);
}

/* --- operations ------------------------------------------------------------------------------- */

static enum pp_sim_outcome await(struct pp_simulator *self, uint32_t number,
				 const struct pp_replay_step *step)
{
	const struct pp_sim_runner *other = &self->runners[step->of.thread];

	if (other->is_ended || other->at > step->of.step)
		return PP_SIM_DONE;
	self->runners[number].is_granted = true;
	pp_heap_add(&self->awaits[step->of.thread], step->of.step, number, 0);
	return PP_SIM_BLOCKED;
}

static enum pp_sim_outcome await_notifications(struct pp_simulator *self, uint32_t number,
					       const struct pp_replay_step *step)
{
	if (self->objects[step->notified.object].count >= step->notified.count)
		return PP_SIM_DONE;
	self->runners[number].is_granted = true;
	pp_heap_add(&self->notified[step->notified.object], step->notified.count, number, 0);
	return PP_SIM_BLOCKED;
}

static void notify(struct pp_simulator *self, uint32_t object)
{
	struct pp_heap *waiting = &self->notified[object];
	struct pp_heap_entry first;

	self->objects[object].count++;
	while (waiting->n != 0 && waiting->entries[0].key <= self->objects[object].count) {
		pp_heap_take(waiting, &first);
		pp_sim_wake(self, first.value);
	}
}

static enum pp_sim_outcome perform(struct pp_simulator *self, uint32_t number,
				   const struct pp_replay_step *step)
{
	switch (step->kind) {
	case PP_REPLAY_LOCK:
	case PP_REPLAY_LOCK_SPIN:
	case PP_REPLAY_RDLOCK:
		return pp_sim_acquire(self, number, step);
	case PP_REPLAY_UNLOCK:
		pp_sim_release_lock(self, number, step->object);
		return PP_SIM_DONE;
	case PP_REPLAY_SEM_WAIT:
		return pp_sim_sem_wait(self, number, step);
	case PP_REPLAY_SEM_POST:
		pp_sim_sem_post(self, step);
		return PP_SIM_DONE;
	case PP_REPLAY_BARRIER:
		return pp_sim_arrive(self, number, step);
	case PP_REPLAY_AWAIT:
		return await(self, number, step);
	case PP_REPLAY_NOTIFIED:
		return await_notifications(self, number, step);
	case PP_REPLAY_NOTIFY:
		notify(self, step->object);
		return PP_SIM_DONE;
	case PP_REPLAY_SLEEP:
		self->runners[number].is_granted = true;
		pp_sim_ready_at(self, number,
				self->now_ns + (int64_t)MIN(step->sleep_ns, G_MAXINT64 / 4));
		return PP_SIM_BLOCKED;
	case PP_REPLAY_CREATE:
		pp_sim_wake(self, step->thread);
		log_creation(self, number, step->thread);
		return PP_SIM_DONE;
	default:
		return PP_SIM_DONE;
	}
}

/* The step has been replayed. Returns false if the thread has ended. */
static bool next_step(struct pp_simulator *self, uint32_t number)
{
	struct pp_sim_runner *runner = &self->runners[number];
	const struct pp_replay_step *step = &runner->steps[runner->at];
	struct pp_heap *awaits = &self->awaits[number];
	struct pp_heap_entry first;

	if (self->how->log)
		log_step(self, number);
	runner->has_waited = false;
	while (step->awaited && awaits->n != 0 && awaits->entries[0].key <= runner->at) {
		pp_heap_take(awaits, &first);
		pp_sim_wake(self, first.value);
	}
	runner->is_ended = step->kind == PP_REPLAY_EXIT;
	if (runner->is_ended) {
		self->n_left--;
		return false;
	}
	runner->at++;
	runner->left_ns = runner->steps[runner->at].cpu_ns + (uint64_t)runner->extra_ns;
	runner->extra_ns = 0;
	return true;
}

/* A thread of another program. */
static void go_on(struct pp_simulator *self, uint32_t number)
{
	struct pp_sim_runner *runner = &self->runners[number];
	uint64_t part = self->how->others % 1000,
		 all_ns = PART_QUANTA * (uint64_t)pp_sim_quantum(self);
	bool is_part = part != 0 && number == self->n_runners - 1;

	if (runner->left_ns == 0 && runner->is_granted) {
		runner->is_granted = false;
		pp_sim_ready_at(self, number,
				self->now_ns + (int64_t)(all_ns * (1000 - part) / 1000));
		pp_sim_leave_cpu(self, runner);
		return;
	}
	if (runner->left_ns == 0) {
		runner->left_ns = is_part ? MAX(all_ns * part / 1000, 1) : all_ns;
		runner->is_granted = is_part;
	}
	pp_sim_plan(self, runner->cpu);
}

/* Returns false until a thread that uses CPU time to block has been woken, and used this time. */
static bool end_blocking(struct pp_simulator *self, struct pp_sim_runner *runner)
{
	if (runner->left_ns > 0) {
		pp_sim_plan(self, runner->cpu);
		return false;
	}
	runner->is_blocking = false;
	if (runner->is_woken) {
		runner->is_woken = false;
		return true;
	}
	self->n_active--;
	pp_sim_leave_cpu(self, runner);
	return false;
}

/* Takes the CPU from a thread that had none in its step. Returns false if it had one. */
static bool delay(struct pp_simulator *self, uint32_t number)
{
	int64_t ns = pp_sim_taken_ns(self, number);

	if (!ns)
		return false;
	self->n_active--;
	pp_sim_leave_cpu(self, &self->runners[number]);
	pp_sim_ready_at(self, number, self->now_ns + ns);
	return true;
}

/* Runs a thread that has a CPU until it needs CPU time, or blocks. */
static void advance(struct pp_simulator *self, uint32_t number)
{
	struct pp_sim_runner *runner = &self->runners[number];

	for (;;) {
		enum pp_sim_outcome outcome;

		if (runner->is_other) {
			go_on(self, number);
			return;
		}
		if (runner->is_blocking && !end_blocking(self, runner))
			return;
		self->actor = number;
		self->result->n_events++;
		if (runner->is_granted) {
			runner->is_granted = false;
		} else {
			if (runner->left_ns > 0) {
				pp_sim_plan(self, runner->cpu);
				return;
			}
			if (delay(self, number))
				return;
			outcome = perform(self, number, &runner->steps[runner->at]);
			if (outcome != PP_SIM_DONE) {
				if (!runner->has_waited)
					runner->blocked_ns = self->now_ns;
				runner->has_waited = true;
				runner->waker = PP_SIM_NONE;
			}
			if (outcome == PP_SIM_STAYS) {
				pp_sim_plan(self, runner->cpu);
				return;
			}
			if (outcome == PP_SIM_BLOCKED) {
				self->n_active--;
				pp_sim_leave_cpu(self, runner);
				return;
			}
		}
		if (!next_step(self, number)) {
			self->n_active--;
			pp_sim_leave_cpu(self, runner);
			return;
		}
	}
}

static void dispatch(struct pp_simulator *self)
{
	while (self->n_idle != 0 && self->n_ready != 0) {
		uint32_t number = self->ready[self->first_ready], at = 0;

		self->first_ready = (self->first_ready + 1) % self->n_runners;
		self->n_ready--;
		while (self->cpus[at].runner != PP_SIM_NONE)
			at++;
		self->cpus[at].runner = number;
		self->cpus[at].since_ns = self->now_ns;
		self->cpus[at].slice_begin_ns = self->now_ns;
		self->cpus[at].slice_end_ns = self->now_ns + pp_sim_quantum(self);
		self->runners[number].cpu = at;
		self->n_idle--;
		if (self->runners[number].is_spinning && !pp_sim_spin_again(self, number))
			pp_sim_plan(self, at);
		else
			advance(self, number);
	}
}

/* Its CPU time is over: it goes on with its operation. */
static bool is_due(const struct pp_sim_runner *runner)
{
	if (runner->is_other)
		return runner->left_ns == 0 && runner->is_granted;
	return runner->left_ns == 0 && !runner->is_spinning;
}

static void on_cpu(struct pp_simulator *self, uint32_t at)
{
	struct pp_sim_cpu *cpu = &self->cpus[at];
	uint32_t number = cpu->runner;
	struct pp_sim_runner *runner = &self->runners[number];

	pp_sim_count_time(self, cpu);
	if (self->now_ns >= cpu->slice_end_ns) {
		if (self->n_ready != 0 && !is_due(runner)) {
			pp_sim_leave_cpu(self, runner);
			pp_sim_push_last(self, number);
			return;
		}
		cpu->slice_end_ns = self->now_ns + pp_sim_quantum(self);
	}
	if (runner->is_spinning)
		pp_sim_plan(self, at);
	else
		advance(self, number);
}

/* --- the simulation --------------------------------------------------------------------------- */

static void begin(struct pp_simulator *self)
{
	const struct pp_replay_model *model = self->model;

	self->n_left = model->threads->len;
	self->n_others = self->model->delays->len ? 0 : (self->how->others + 999) / 1000;
	self->n_runners = self->n_left + self->n_others;
	self->n_idle = self->how->n_cpus;
	self->random = g_rand_new_with_seed(self->how->seed);
	self->runners = g_new0(struct pp_sim_runner, self->n_runners);
	self->awaits = g_new0(struct pp_heap, self->n_runners);
	self->notified = g_new0(struct pp_heap, MAX(model->objects->len, 1));
	self->ready = g_new(uint32_t, self->n_runners);
	self->cpus = g_new0(struct pp_sim_cpu, self->how->n_cpus);
	self->objects = g_new0(struct pp_sim_object, model->objects->len);
	self->result->objects =
	    g_array_sized_new(FALSE, TRUE, sizeof(struct pp_simulated_object), model->objects->len);
	g_array_set_size(self->result->objects, model->objects->len);
	for (uint32_t i = 0; i < self->how->n_cpus; i++)
		self->cpus[i].runner = PP_SIM_NONE;
	for (guint i = 0; i < model->objects->len; i++) {
		const struct pp_replay_object *object = model->objects->pdata[i];

		self->objects[i] = (struct pp_sim_object){
		    .owner = PP_SIM_NONE, .first = PP_SIM_NONE, .last = PP_SIM_NONE};
		if (object->kind == PP_REPLAY_OBJECT_SEM)
			self->objects[i].count = object->count;
	}
	for (uint32_t i = model->threads->len; i < self->n_runners; i++) {
		self->runners[i] = (struct pp_sim_runner){
		    .cpu = PP_SIM_NONE, .next = PP_SIM_NONE, .is_other = true};
		pp_sim_ready_at(self, i, 0);
	}
	for (uint32_t i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];

		self->runners[i] = (struct pp_sim_runner){
		    .steps = (const struct pp_replay_step *)thread->steps->data,
		    .left_ns = ((const struct pp_replay_step *)thread->steps->data)->cpu_ns,
		    .cpu = PP_SIM_NONE,
		    .next = PP_SIM_NONE,
		    .waker = PP_SIM_NONE,
		    .wait_since_ns = -1,
		};
		if (!thread->has_creator)
			pp_sim_ready_at(self, i, MAX(thread->start_ns, 0));
	}
}

static void done(struct pp_simulator *self)
{
	for (uint32_t i = 0; i < self->n_runners; i++)
		pp_heap_done(&self->awaits[i]);
	for (guint i = 0; i < self->model->objects->len; i++)
		pp_heap_done(&self->notified[i]);
	g_free(self->notified);
	for (uint32_t i = 0; i < self->n_runners; i++)
		g_clear_pointer(&self->runners[i].missed, g_array_unref);
	pp_heap_done(&self->events);
	g_rand_free(self->random);
	g_free(self->runners);
	g_free(self->awaits);
	g_free(self->ready);
	g_free(self->cpus);
	g_free(self->objects);
}

void pp_simulate(const struct pp_replay_model *model, const struct pp_simulation *how,
		 struct pp_simulated *ret)
{
	struct pp_simulator self = {.model = model, .how = how, .result = ret};
	struct pp_heap_entry event;

	*ret = (struct pp_simulated){0};
	begin(&self);
	pp_sim_begin_delays(&self);
	begin_log(&self);
	while (self.n_left != 0 && self.n_active != 0 && !pp_sim_all_spin(&self) &&
	       pp_heap_take(&self.events, &event)) {
		if ((event.tag & 1) == PP_SIM_CPU &&
		    event.tag >> 1 != (self.cpus[event.value].tag & (UINT32_MAX >> 1)))
			continue; /* the thread has left the CPU since */
		self.now_ns = (int64_t)event.key;
		if ((event.tag & 1) == PP_SIM_READY)
			pp_sim_on_ready(&self, event.value);
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
