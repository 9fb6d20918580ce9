/* SPDX-License-Identifier: MIT */
/*
 * Locks are taken in ascending order, awaited steps are those of earlier threads and come before
 * the barrier at the end, and only the first thread posts, which waits for locks and the barrier
 * only.
 */
#include "random_model.h"

#define N_LOCKS	  3
#define MOST_CPU  20000
#define MOST_NAPS 50000

struct generator {
	struct pp_replay_model *model;
	GRand *random;
	uint32_t sem, barrier, cond;
	int n_items; /* of the semaphore, that no thread waits for */
	int n_notified;
	bool has_barrier;
};

static void add(struct generator *self, struct pp_replay_thread *thread, enum pp_replay_kind kind,
		uint32_t object)
{
	struct pp_replay_step step = {.kind = kind, .object = object};

	step.cpu_ns = (uint64_t)g_rand_int_range(self->random, 0, MOST_CPU);
	g_array_append_val(thread->steps, step);
}

static void add_section(struct generator *self, struct pp_replay_thread *thread)
{
	int first = g_rand_int_range(self->random, 0, N_LOCKS);
	int second = g_rand_int_range(self->random, first, N_LOCKS);

	/* the last lock is a spin lock, the first one has readers */
	for (int lock = first; lock <= second; lock += MAX(second - first, 1))
		add(self, thread,
		    lock == N_LOCKS - 1				? PP_REPLAY_LOCK_SPIN
		    : lock == 0 && g_rand_boolean(self->random) ? PP_REPLAY_RDLOCK
								: PP_REPLAY_LOCK,
		    (uint32_t)lock);
	add(self, thread, PP_REPLAY_UNLOCK, (uint32_t)first);
	if (second != first)
		add(self, thread, PP_REPLAY_UNLOCK, (uint32_t)second);
}

static void add_await(struct generator *self, struct pp_replay_thread *thread, uint32_t number)
{
	struct pp_replay_step step = {.kind = PP_REPLAY_AWAIT};
	const struct pp_replay_thread *other;

	step.of.thread = (uint32_t)g_rand_int_range(self->random, 0, (gint32)number);
	other = self->model->threads->pdata[step.of.thread];
	step.of.step = (uint32_t)g_rand_int_range(
	    self->random, 0, (gint32)other->steps->len - 1 - self->has_barrier);
	g_array_append_val(thread->steps, step);
}

static void add_action(struct generator *self, struct pp_replay_thread *thread, uint32_t number)
{
	int kind = g_rand_int_range(self->random, 0, 10);

	if (kind < 6) {
		add_section(self, thread);
	} else if (kind == 6) {
		struct pp_replay_step step = {.kind = PP_REPLAY_SLEEP};

		step.sleep_ns = (uint64_t)g_rand_int_range(self->random, 0, MOST_NAPS);
		g_array_append_val(thread->steps, step);
	} else if (kind == 8 && number < 2) {
		add(self, thread, PP_REPLAY_NOTIFY, self->cond);
		self->n_notified++;
	} else if (kind == 8 && self->n_notified > 0) {
		struct pp_replay_step step = {.kind = PP_REPLAY_NOTIFIED};

		step.notified.object = self->cond;
		step.notified.count =
		    (uint32_t)g_rand_int_range(self->random, 1, self->n_notified + 1);
		g_array_append_val(thread->steps, step);
	} else if (number == 0) {
		add(self, thread, PP_REPLAY_SEM_POST, self->sem);
		self->n_items++;
	} else if (kind == 7 && self->n_items > 0) {
		add(self, thread, PP_REPLAY_SEM_WAIT, self->sem);
		self->n_items--;
	} else {
		add_await(self, thread, number);
	}
}

static void add_thread(struct generator *self, uint32_t number, uint32_t n_threads)
{
	struct pp_replay_thread *thread = pp_replay_add_thread(self->model, "t");
	int n = g_rand_int_range(self->random, 1, 40);

	thread->has_creator = number > 0;
	for (uint32_t i = 1; number == 0 && i < n_threads; i++)
		add(self, thread, PP_REPLAY_CREATE, i);
	add(self, thread, PP_REPLAY_SIGNAL, 0);
	for (int i = 0; i < n; i++)
		add_action(self, thread, number);
	if (self->has_barrier)
		add(self, thread, PP_REPLAY_BARRIER, self->barrier);
	add(self, thread, PP_REPLAY_EXIT, 0);
}

struct pp_replay_model *random_model(uint32_t seed)
{
	struct generator self = {.model = pp_replay_model_new(),
				 .random = g_rand_new_with_seed(seed)};
	uint32_t n_threads = (uint32_t)g_rand_int_range(self.random, 2, 7);

	self.has_barrier = g_rand_boolean(self.random);
	self.n_items = g_rand_int_range(self.random, 0, 3);
	for (int i = 0; i < N_LOCKS; i++)
		pp_replay_add_object(self.model, PP_REPLAY_OBJECT_LOCK, 0, "lock");
	self.sem =
	    pp_replay_add_object(self.model, PP_REPLAY_OBJECT_SEM, (uint32_t)self.n_items, "items");
	self.barrier =
	    pp_replay_add_object(self.model, PP_REPLAY_OBJECT_BARRIER, n_threads, "barrier");
	self.cond = pp_replay_add_object(self.model, PP_REPLAY_OBJECT_COND, 0, "cond");
	self.model->quantum_ns = 3000000;
	for (uint32_t i = 0; i < n_threads; i++)
		add_thread(&self, i, n_threads);
	g_rand_free(self.random);
	return self.model;
}
