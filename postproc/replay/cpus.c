/* SPDX-License-Identifier: MIT */
/* The scheduler: which thread has which CPU, until when, and which one is next. */
#include "replay/simulate.h"
#include "replay/simulator.h"

void pp_sim_ready_at(struct pp_simulator *self, uint32_t number, int64_t ns)
{
	self->n_active += !self->runners[number].is_other;
	pp_heap_add(&self->events, (uint64_t)ns, number, PP_SIM_READY);
}

void pp_sim_note_waker(struct pp_simulator *self, uint32_t number)
{
	self->runners[number].waker = self->actor;
	self->runners[number].woken_ns = self->now_ns;
}

/* The time of a wake-up: between two quantiles, at random. */
static int64_t wake_time(struct pp_simulator *self)
{
	const struct pp_replay_model *model = self->model;
	double at, part;
	uint32_t below;

	if (model->n_wakes == 1)
		return (int64_t)(g_rand_double_range(self->random, 0.5, 1.5) *
				 (double)model->wake_ns[0]);
	at = g_rand_double_range(self->random, 0, model->n_wakes - 1);
	below = (uint32_t)at;
	part = at - below;
	return (int64_t)((1 - part) * (double)model->wake_ns[below] +
			 part * (double)model->wake_ns[below + 1]);
}

void pp_sim_wake_after(struct pp_simulator *self, uint32_t number, int64_t delay_ns)
{
	pp_sim_note_waker(self, number);
	delay_ns += wake_time(self) + pp_sim_late_ns(self, number);
	pp_sim_ready_at(self, number, self->now_ns + delay_ns);
}

void pp_sim_wake(struct pp_simulator *self, uint32_t number)
{
	pp_sim_wake_after(self, number, 0);
}

void pp_sim_plan(struct pp_simulator *self, uint32_t number)
{
	struct pp_sim_cpu *cpu = &self->cpus[number];
	const struct pp_sim_runner *runner = &self->runners[cpu->runner];
	int64_t end_ns = cpu->slice_end_ns;

	if (!runner->is_spinning)
		end_ns = MIN(end_ns, self->now_ns + (int64_t)runner->left_ns);
	cpu->since_ns = self->now_ns;
	cpu->tag++;
	/* only the event with the CPU's present tag is valid */
	pp_heap_add(&self->events, (uint64_t)end_ns, number, PP_SIM_CPU | cpu->tag << 1);
}

void pp_sim_count_time(struct pp_simulator *self, struct pp_sim_cpu *cpu)
{
	struct pp_sim_runner *runner = &self->runners[cpu->runner];
	int64_t ns = self->now_ns - cpu->since_ns;

	if (!runner->is_other)
		self->result->cpu_ns += ns;
	if (!runner->is_spinning)
		runner->left_ns -= MIN((uint64_t)ns, runner->left_ns);
	cpu->since_ns = self->now_ns;
}

void pp_sim_leave_cpu(struct pp_simulator *self, struct pp_sim_runner *runner)
{
	struct pp_sim_cpu *cpu = &self->cpus[runner->cpu];

	cpu->runner = PP_SIM_NONE;
	cpu->tag++;
	runner->cpu = PP_SIM_NONE;
	self->n_idle++;
}

void pp_sim_push_last(struct pp_simulator *self, uint32_t number)
{
	self->ready[(self->first_ready + self->n_ready++) % self->n_runners] = number;
}

static void push_first(struct pp_simulator *self, uint32_t number)
{
	self->first_ready = (self->first_ready + self->n_runners - 1) % self->n_runners;
	self->ready[self->first_ready] = number;
	self->n_ready++;
}

/* Takes its CPU from the thread that has had one for longest, if it is long enough. */
static void preempt(struct pp_simulator *self)
{
	struct pp_sim_cpu *longest = &self->cpus[0];
	uint32_t number;

	for (uint32_t i = 1; i < self->how->n_cpus; i++)
		if (self->cpus[i].slice_begin_ns < longest->slice_begin_ns)
			longest = &self->cpus[i];
	number = longest->runner;
	if (self->now_ns - longest->slice_begin_ns < pp_sim_quantum(self) / 3)
		return;
	pp_sim_count_time(self, longest);
	pp_sim_leave_cpu(self, &self->runners[number]);
	pp_sim_push_last(self, number);
}

void pp_sim_on_ready(struct pp_simulator *self, uint32_t number)
{
	if (self->n_idle == 0 && !self->runners[number].is_other)
		preempt(self);
	if (self->runners[number].is_other)
		pp_sim_push_last(self, number);
	else
		push_first(self, number);
}
