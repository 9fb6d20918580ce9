/* SPDX-License-Identifier: MIT */
/*
 * The states of threads that ran before the recording, against a slow, obvious account.  A
 * simulated scheduler runs threads on a few CPUs.  Events are written from some instant on, and the
 * state of each thread once, at an instant after that.  The times of each thread must equal the
 * sums of the nanoseconds that it spent in each state.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "event_text.h"
#include "analysis/pass_set.h"

#define N_RUNS	  600
#define N_THREADS 6
#define N_CPUS	  2
#define LENGTH_NS 600
#define FIRST_TID 5
#define NONE	  (-1)

enum doing { RUNNING, RUNNABLE, BLOCKED, ENDED };

struct actor {
	enum doing doing;
	unsigned left_ns; /* of running, or of being blocked */
	bool has_events;  /* since the begin */
	bool was_read;	  /* its state was */
	bool is_ready;	  /* ... and it was not blocked */
	int read_ns;
};

struct simulation {
	GRand *rand;
	GString *text;
	struct actor actors[N_THREADS];
	int on_cpu[N_CPUS]; /* an actor, or NONE */
	enum doing done[N_THREADS][LENGTH_NS];
	int begin_ns, now_ns;
	bool has_wakings;
};

static unsigned draw(struct simulation *self, unsigned first, unsigned last)
{
	return (unsigned)g_rand_int_range(self->rand, (gint32)first, (gint32)last + 1);
}

static void event(struct simulation *self, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void event(struct simulation *self, const char *format, ...)
{
	va_list args;

	if (self->now_ns < self->begin_ns)
		return;
	g_string_append_printf(self->text, "%d ", self->now_ns);
	va_start(args, format);
	g_string_append_vprintf(self->text, format, args);
	va_end(args);
	g_string_append_c(self->text, '\n');
}

static void note_event(const struct simulation *self, struct actor *actor)
{
	actor->has_events |= self->now_ns >= self->begin_ns;
}

static int tid_of(const struct simulation *self, int actor)
{
	return actor == NONE ? (self->has_wakings ? 0 : -1) : FIRST_TID + actor;
}

/* Another one, or none, comes to the CPU.  Without pairs, each side has an event of its own. */
static void switch_to(struct simulation *self, unsigned cpu, int next, const char *state)
{
	int prev = self->on_cpu[cpu];

	if (prev == next)
		return;
	if (self->has_wakings) {
		event(self, "switch prev=%d next=%d state=%s cpu=%u", tid_of(self, prev),
		      tid_of(self, next), state, cpu);
	} else {
		if (prev != NONE)
			event(self, "switch prev=%d next=-1 state=%s cpu=%u", tid_of(self, prev),
			      state, cpu);
		if (next != NONE)
			event(self, "switch prev=-1 next=%d cpu=%u", tid_of(self, next), cpu);
	}
	if (prev != NONE)
		note_event(self, &self->actors[prev]);
	if (next != NONE)
		note_event(self, &self->actors[next]);
	self->on_cpu[cpu] = next;
}

static int find_runnable(struct simulation *self)
{
	unsigned first = draw(self, 0, N_THREADS - 1);

	for (unsigned i = 0; i < N_THREADS; i++) {
		unsigned at = (first + i) % N_THREADS;

		if (self->actors[at].doing == RUNNABLE)
			return (int)at;
	}
	return NONE;
}

/* Gives the CPU to a thread that is ready; the one on it goes on to do something else. */
static void schedule(struct simulation *self, unsigned cpu, enum doing prev_does)
{
	int prev = self->on_cpu[cpu], next = find_runnable(self);

	if (prev != NONE) {
		self->actors[prev].doing = prev_does;
		self->actors[prev].left_ns = draw(self, 1, 80);
	}
	if (next != NONE) {
		self->actors[next].doing = RUNNING;
		self->actors[next].left_ns = draw(self, 1, 60);
	}
	switch_to(self, cpu, next, prev_does == BLOCKED ? "S" : "R");
}

static void end_thread(struct simulation *self, unsigned cpu)
{
	int prev = self->on_cpu[cpu];

	event(self, "exit tid=%d cpu=%u", tid_of(self, prev), cpu);
	note_event(self, &self->actors[prev]);
	self->actors[prev].doing = ENDED;
	switch_to(self, cpu, NONE, "X");
}

static void step_cpu(struct simulation *self, unsigned cpu)
{
	int on = self->on_cpu[cpu];
	unsigned choice = draw(self, 0, 19);

	if (on == NONE)
		schedule(self, cpu, RUNNABLE);
	else if (--self->actors[on].left_ns == 0 && choice == 0)
		end_thread(self, cpu);
	else if (self->actors[on].left_ns == 0)
		schedule(self, cpu, choice < 8 ? RUNNABLE : BLOCKED);
}

static void wake(struct simulation *self, unsigned i)
{
	struct actor *actor = &self->actors[i];

	if (actor->doing != BLOCKED || --actor->left_ns)
		return;
	actor->doing = RUNNABLE;
	if (!self->has_wakings)
		return;
	event(self, "waking tid=%u interrupt cpu=0", FIRST_TID + i);
	note_event(self, actor);
}

static void read_state(struct simulation *self, unsigned i)
{
	struct actor *actor = &self->actors[i];

	if (self->now_ns != actor->read_ns || actor->doing == ENDED)
		return;
	event(self, "state tid=%u state=%s", FIRST_TID + i, actor->doing == BLOCKED ? "S" : "R");
	actor->was_read = true;
	actor->is_ready = actor->doing != BLOCKED;
}

static void simulate(struct simulation *self)
{
	g_string_append_printf(self->text, "source %s\nprocess %d start=%d attached\n",
			       self->has_wakings ? "kernel" : "switches", FIRST_TID,
			       self->begin_ns);
	for (unsigned cpu = 0; cpu < N_CPUS; cpu++)
		self->on_cpu[cpu] = NONE;
	for (unsigned i = 0; i < N_THREADS; i++) {
		self->actors[i] = (struct actor){.doing = BLOCKED, .left_ns = draw(self, 1, 50)};
		self->actors[i].read_ns = self->begin_ns + (int)draw(self, 0, 60);
		g_string_append_printf(self->text, "thread %u start=%d\n", FIRST_TID + i,
				       self->begin_ns);
	}
	for (; self->now_ns < LENGTH_NS; self->now_ns++) {
		for (unsigned i = 0; i < N_THREADS; i++)
			wake(self, i);
		for (unsigned cpu = 0; cpu < N_CPUS; cpu++)
			step_cpu(self, cpu);
		for (unsigned i = 0; i < N_THREADS; i++) {
			read_state(self, i);
			self->done[i][self->now_ns] = self->actors[i].doing;
		}
	}
	/* The last event, so that the capture lasts until here. */
	event(self, "timer cpu=0");
}

/* --- comparing ------------------------------------------------------------------------------ */

static unsigned n_checked, n_failed;

static int64_t sum(const struct simulation *self, unsigned i, enum doing doing)
{
	int64_t ns = 0;

	for (int t = self->begin_ns; t < LENGTH_NS; t++)
		ns += self->done[i][t] == doing;
	return ns;
}

static void check(const struct simulation *self, unsigned i, const char *what, int64_t expected,
		  int64_t got)
{
	n_checked++;
	if (expected == got)
		return;
	if (++n_failed < 4)
		printf("thread %u, %s: expected %" PRId64 ", got %" PRId64 " in\n%s\n",
		       FIRST_TID + i, what, expected, got, self->text->str);
}

static int64_t cell(const struct pp_table *table, unsigned row, const char *key)
{
	const struct pp_cell *cell = pp_table_cell(table, row, key);

	return cell ? cell->time_ns : -1;
}

/* The row of the thread, or the number of rows. */
static unsigned row_of(const struct pp_table *table, unsigned i)
{
	unsigned row = 0;

	while (row < table->rows->len && pp_table_cell(table, row, "tid")->count != FIRST_TID + i)
		row++;
	return row;
}

static void check_thread(const struct simulation *self, const struct pp_table *table, unsigned i)
{
	const struct actor *actor = &self->actors[i];
	unsigned row = row_of(table, i);
	int64_t running_ns, off_cpu_ns;

	/* It ended before the recording. */
	if (sum(self, i, ENDED) == LENGTH_NS - self->begin_ns)
		return;
	if (row == table->rows->len) {
		check(self, i, "row", 1, 0);
		return;
	}
	running_ns = cell(table, row, "running_ns");
	/* Neither its state nor an event tells whether it was on a CPU. */
	if (!actor->has_events && (!actor->was_read || actor->is_ready)) {
		check(self, i, "no figure", -1, running_ns);
		return;
	}
	off_cpu_ns = cell(table, row, "runnable_ns") + cell(table, row, "blocked_other_ns");
	check(self, i, "unknown", 0, cell(table, row, "unknown_ns"));
	check(self, i, "running", sum(self, i, RUNNING), running_ns);
	check(self, i, "not running", sum(self, i, RUNNABLE) + sum(self, i, BLOCKED), off_cpu_ns);
	if (self->has_wakings)
		check(self, i, "runnable", sum(self, i, RUNNABLE), cell(table, row, "runnable_ns"));
}

static void check_run(const struct simulation *self, struct pp_text *text)
{
	static const char *const names[] = {"threads"};
	struct pp_pass_context context = {
	    .model = text->model,
	    .has_kernel = text->has_kernel,
	    .has_switch_pairs = text->has_switch_pairs,
	    .has_wakings = text->has_wakings,
	};
	struct pp_pass_set *passes = pp_pass_set_new(&context, names, G_N_ELEMENTS(names));
	unsigned n;

	for (guint i = 0; i < text->events->len; i++)
		pp_pass_set_event(passes, &g_array_index(text->events, struct pp_event, i));
	pp_pass_set_finish(passes, text->model->end_ns);
	for (unsigned i = 0; i < N_THREADS; i++)
		check_thread(self, pp_pass_set_tables(passes, "threads", &n)[0], i);
	pp_pass_set_free(passes);
}

static void run(uint32_t seed)
{
	struct simulation *self = g_new0(struct simulation, 1);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_text *text = NULL;

	self->rand = g_rand_new_with_seed(seed);
	self->text = g_string_new(NULL);
	self->has_wakings = seed % 2;
	self->begin_ns = (int)draw(self, 100, 400);
	simulate(self);
	if (pp_text_read(self->text->str, "simulation", 1, &text, &err)) {
		g_autofree char *what = pp_error_text(&err);

		printf("%s\n", what);
		n_failed++;
	} else {
		check_run(self, text);
		pp_text_free(text);
	}
	pp_error_done(&err);
	g_rand_free(self->rand);
	g_string_free(self->text, TRUE);
	g_free(self);
}

int main(void)
{
	for (uint32_t seed = 0; seed < N_RUNS; seed++)
		run(seed);
	printf("%u checked, %u failed\n", n_checked, n_failed);
	return n_failed || !n_checked;
}
