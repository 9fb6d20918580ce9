/* SPDX-License-Identifier: MIT */
/*
 * A position on the path is a thread, its step, and a time within that step. Each move goes to the
 * step before or to another thread's step, and never to a later time.
 */
#include "replay/path.h"

#include <stdlib.h>

#include "replay/sections.h"

struct path {
	const struct pp_replay_model *model;
	const struct pp_simulation_log *log;
	GArray *parts;	      /* of struct pp_replay_part */
	GHashTable *known;    /* object and site -> number of the part + 1 */
	uint32_t **enclosing; /* by thread and step: the step that took the innermost lock */
	uint32_t thread, step;
	int64_t now_ns;
};

static const struct pp_replay_step *steps_of(const struct path *self, uint32_t thread,
					     uint32_t *ret_n)
{
	const struct pp_replay_thread *of = self->model->threads->pdata[thread];

	*ret_n = of->steps->len;
	return (const struct pp_replay_step *)of->steps->data;
}

static int64_t done_ns(const struct path *self, uint32_t thread, uint32_t step)
{
	return g_array_index(self->log->threads[thread].done_ns, int64_t, step);
}

/* --- parts ------------------------------------------------------------------------------------ */

static void add_part(struct path *self, enum pp_replay_part_kind kind, uint32_t object,
		     uint32_t site, int64_t ns)
{
	struct pp_replay_part part = {kind, object, site, ns};
	uint64_t key = kind == PP_REPLAY_PART_SECTION ? (uint64_t)(object + 1) << 32 | site : kind;
	guint at;

	if (ns <= 0)
		return;
	at = GPOINTER_TO_UINT(g_hash_table_lookup(self->known, &key));
	if (at) {
		g_array_index(self->parts, struct pp_replay_part, at - 1).ns += ns;
		return;
	}
	g_array_append_val(self->parts, part);
	g_hash_table_insert(self->known, g_memdup2(&key, sizeof(key)),
			    GUINT_TO_POINTER(self->parts->len));
}

static void add_cpu(struct path *self, int64_t ns)
{
	uint32_t n, at;
	const struct pp_replay_step *steps = steps_of(self, self->thread, &n);

	if (!self->enclosing[self->thread])
		self->enclosing[self->thread] =
		    pp_replay_find_enclosing(self->model->threads->pdata[self->thread]);
	at = self->enclosing[self->thread][self->step];
	if (at == PP_REPLAY_NO_STEP)
		add_part(self, PP_REPLAY_PART_OUTSIDE, 0, 0, ns);
	else
		add_part(self, PP_REPLAY_PART_SECTION, steps[at].object, steps[at].site, ns);
}

/* --- the way back ----------------------------------------------------------------------------- */

static int compare_waits(const void *a, const void *b)
{
	uint32_t x = ((const struct pp_simulated_wait *)a)->step;
	uint32_t y = ((const struct pp_simulated_wait *)b)->step;

	return (x > y) - (x < y);
}

/* The wait of the present step; NULL: none, or no thread has ended it. */
static const struct pp_simulated_wait *find_wait(const struct path *self)
{
	const GArray *waits = self->log->threads[self->thread].waits;
	struct pp_simulated_wait key = {.step = self->step};
	const struct pp_simulated_wait *found =
	    waits->len ? bsearch(&key, waits->data, waits->len, sizeof(key), compare_waits) : NULL;

	return found && found->waker != PP_SIMULATED_NONE ? found : NULL;
}

/* The first step of the thread that was done at that time or later. */
static void go_to(struct path *self, uint32_t thread, int64_t ns)
{
	uint32_t low = 0, high = self->log->threads[thread].done_ns->len - 1;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (done_ns(self, thread, middle) >= ns)
			high = middle;
		else
			low = middle + 1;
	}
	self->thread = thread;
	self->step = low;
	self->now_ns = ns;
}

/* Adds the present step, in which no thread ended a wait, from that time on. */
static void add_step(struct path *self, int64_t begin_ns)
{
	uint32_t n;
	const struct pp_replay_step *step = &steps_of(self, self->thread, &n)[self->step];
	int64_t left_ns = self->now_ns - begin_ns;
	int64_t sleep_ns =
	    step->kind == PP_REPLAY_SLEEP ? (int64_t)MIN(step->sleep_ns, (uint64_t)left_ns) : 0;
	int64_t cpu_ns = (int64_t)MIN(step->cpu_ns, (uint64_t)(left_ns - sleep_ns));

	add_part(self, PP_REPLAY_PART_SLEEP, 0, 0, sleep_ns);
	add_cpu(self, cpu_ns);
	add_part(self, PP_REPLAY_PART_READY, 0, 0, left_ns - sleep_ns - cpu_ns);
	self->now_ns = begin_ns;
}

/* Moves back by a step.  Returns false at the begin of the path. */
static bool go_back(struct path *self)
{
	const struct pp_simulated_thread *thread = &self->log->threads[self->thread];
	const struct pp_simulated_wait *wait = find_wait(self);

	if (wait) {
		add_part(self, PP_REPLAY_PART_READY, 0, 0, self->now_ns - wait->woken_ns);
		go_to(self, wait->waker, wait->woken_ns);
		return true;
	}
	if (self->step > 0) {
		add_step(self, done_ns(self, self->thread, self->step - 1));
		self->step--;
		return true;
	}
	add_step(self, thread->start_ns);
	if (thread->creator != PP_SIMULATED_NONE) {
		go_to(self, thread->creator, thread->start_ns);
		return true;
	}
	add_part(self, PP_REPLAY_PART_START, 0, 0, thread->start_ns);
	return false;
}

static int compare_parts(const void *a, const void *b)
{
	const struct pp_replay_part *x = a, *y = b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

/* The thread whose last step was done last. */
static uint32_t last_thread(const struct path *self)
{
	uint32_t last = 0;
	int64_t last_ns = -1;

	for (uint32_t i = 0; i < self->log->n_threads; i++) {
		const GArray *done = self->log->threads[i].done_ns;
		int64_t ns = g_array_index(done, int64_t, done->len - 1);

		if (ns <= last_ns)
			continue;
		last = i;
		last_ns = ns;
	}
	return last;
}

GArray *pp_replay_path(const struct pp_replay_model *model, const struct pp_simulation_log *log,
		       const struct pp_simulated *simulated)
{
	struct path self = {.model = model, .log = log};
	uint32_t last;

	self.parts = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_part));
	if (simulated->n_stuck)
		return self.parts;
	self.known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	self.enclosing = g_new0(uint32_t *, log->n_threads);
	last = last_thread(&self);
	go_to(&self, last, simulated->ns);
	while (go_back(&self))
		;
	if (self.parts->len)
		qsort(self.parts->data, self.parts->len, sizeof(struct pp_replay_part),
		      compare_parts);
	for (uint32_t i = 0; i < log->n_threads; i++)
		g_free(self.enclosing[i]);
	g_free(self.enclosing);
	g_hash_table_unref(self.known);
	return self.parts;
}
