/* SPDX-License-Identifier: MIT */
/*
 * The sums of blocking calls against a slow, obvious account.  A simulation of threads that run,
 * are blocked in and outside of calls, and hold a lock for which others wait, writes events as
 * text, and notes the state of each thread in each nanosecond.  The tables must equal the sums of
 * these nanoseconds, in the whole time and in parts of it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "event_text.h"
#include "analysis/pass_set.h"
#include "analysis/select.h"

#define N_THREADS 4
#define LENGTH_NS 3000
#define N_SITES	  3
#define FIRST_TID 5
#define LOCK	  "0x1000"

enum doing { RUNNING, RUNNABLE, BLOCKED };
enum what { OUTSIDE, IN_CALL, IN_WAIT };

static const char *const calls[] = {"read", "poll", "nanosleep", "fsync", "accept"};
static const bool is_idle[] = {false, true, true, false, true};
static const bool is_io[] = {true, false, false, true, true};
#define N_CALLS G_N_ELEMENTS(calls)

/* A nanosecond of a thread. */
struct instant {
	uint8_t doing, what;
	uint8_t call, site; /* IN_CALL */
	bool holds, waits;
};

/* A thread does the phases one after the other; BLOCKED without a length lasts until a grant. */
struct phase {
	enum doing doing;
	unsigned length_ns;
};

struct actor {
	enum what what;
	unsigned call, site;
	int64_t since_ns;
	struct phase phases[5];
	unsigned n_phases, at, left_ns;
	bool holds, waits;
};

struct simulation {
	GRand *rand;
	GString *text;
	struct actor actors[N_THREADS];
	struct instant instants[N_THREADS][LENGTH_NS];
	int waiting[N_THREADS]; /* in order of arrival */
	unsigned n_waiting;
	bool is_held, has_kernel;
	int64_t now_ns;
};

static unsigned draw(struct simulation *self, unsigned first, unsigned last)
{
	return (unsigned)g_rand_int_range(self->rand, (gint32)first, (gint32)last + 1);
}

static void event(struct simulation *self, unsigned actor, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static void event(struct simulation *self, unsigned actor, const char *format, ...)
{
	va_list args;

	g_string_append_printf(self->text, "%" PRId64 " ", self->now_ns);
	va_start(args, format);
	g_string_append_vprintf(self->text, format, args);
	va_end(args);
	g_string_append_printf(self->text, " cpu=%u\n", actor);
}

static enum doing doing_of(const struct actor *actor)
{
	return actor->phases[actor->at].doing;
}

/* Scheduling events for the change from one phase to the next. */
static void change(struct simulation *self, unsigned i, enum doing from, enum doing to)
{
	unsigned tid = FIRST_TID + i;

	if (!self->has_kernel || from == to)
		return;
	if (to == BLOCKED)
		event(self, i, "switch prev=%u next=0 state=S", tid);
	else if (to == RUNNABLE)
		event(self, i, "waking tid=%u interrupt", tid);
	else
		event(self, i, "switch prev=0 next=%u", tid);
}

static void set_phases(struct actor *actor, const struct phase *phases, unsigned n)
{
	memcpy(actor->phases, phases, n * sizeof(*phases));
	actor->n_phases = n;
	actor->at = 0;
	actor->left_ns = phases[0].length_ns;
}

static void run_for_a_while(struct simulation *self, struct actor *actor)
{
	const struct phase phases[] = {{RUNNING, draw(self, 1, 40)}};

	actor->what = OUTSIDE;
	set_phases(actor, phases, 1);
}

/* Runs, is blocked, runnable, and runs again: in a call, or outside. */
static void block(struct simulation *self, struct actor *actor, enum what what)
{
	const struct phase phases[] = {{RUNNING, draw(self, 1, 5)},
				       {BLOCKED, draw(self, 1, 60)},
				       {RUNNABLE, draw(self, 1, 10)},
				       {RUNNING, draw(self, 1, 5)}};

	actor->what = what;
	actor->since_ns = self->now_ns;
	actor->call = draw(self, 0, N_CALLS - 1);
	actor->site = draw(self, 0, N_SITES - 1);
	/* A call may run only. */
	set_phases(actor, phases, draw(self, 0, 4) ? 4 : 1);
}

static void lock(struct simulation *self, unsigned i)
{
	struct actor *actor = &self->actors[i];
	const struct phase phases[] = {{RUNNING, draw(self, 1, 3)},
				       {BLOCKED, 0},
				       {RUNNABLE, draw(self, 1, 10)},
				       {RUNNING, draw(self, 1, 3)}};

	if (!self->is_held && !self->n_waiting) {
		event(self, i, "mutex_lock tid=%u object=" LOCK, FIRST_TID + i);
		self->is_held = actor->holds = true;
		run_for_a_while(self, actor);
		return;
	}
	event(self, i, "mutex_lock_begin tid=%u object=" LOCK, FIRST_TID + i);
	self->waiting[self->n_waiting++] = (int)i;
	actor->what = IN_WAIT;
	actor->waits = true;
	set_phases(actor, phases, 4);
}

static void unlock(struct simulation *self, unsigned i)
{
	struct actor *actor = &self->actors[i];

	event(self, i, "mutex_unlock tid=%u object=" LOCK, FIRST_TID + i);
	self->is_held = actor->holds = false;
	run_for_a_while(self, actor);
}

/* The first waiter goes on if it is blocked already. */
static void grant(struct simulation *self)
{
	struct actor *first = self->n_waiting ? &self->actors[self->waiting[0]] : NULL;

	if (self->is_held || !first || doing_of(first) != BLOCKED || first->left_ns)
		return;
	self->is_held = true;
	first->left_ns = 1;
	memmove(self->waiting, self->waiting + 1, --self->n_waiting * sizeof(self->waiting[0]));
}

/* Ends what it did, with an event. */
static void finish(struct simulation *self, unsigned i)
{
	struct actor *actor = &self->actors[i];

	if (actor->what == IN_CALL) {
		event(self, i, "io tid=%u call=%s for=%" PRId64 " site=0x%x fd=3", FIRST_TID + i,
		      calls[actor->call], self->now_ns - actor->since_ns, 0x400 + actor->site);
	} else if (actor->what == IN_WAIT) {
		event(self, i, "mutex_lock tid=%u object=" LOCK, FIRST_TID + i);
		actor->waits = false;
		actor->holds = true;
	}
}

static void begin_next(struct simulation *self, unsigned i)
{
	struct actor *actor = &self->actors[i];
	unsigned choice = draw(self, 0, 9);

	finish(self, i);
	if (choice < 5)
		block(self, actor, IN_CALL);
	else if (choice < 6)
		block(self, actor, OUTSIDE);
	else if (choice < 8 && actor->holds)
		unlock(self, i);
	else if (choice < 9 && !actor->holds)
		lock(self, i);
	else
		run_for_a_while(self, actor);
}

static void step(struct simulation *self, unsigned i)
{
	struct actor *actor = &self->actors[i];
	enum doing before = doing_of(actor);

	if (!actor->left_ns || --actor->left_ns)
		return; /* waits for a grant, or goes on */
	if (++actor->at == actor->n_phases) {
		begin_next(self, i);
		return;
	}
	actor->left_ns = actor->phases[actor->at].length_ns;
	change(self, i, before, doing_of(actor));
}

/* Its time in a call counts only if the call ends within the period, and is then written again. */
static void note(struct simulation *self, unsigned i)
{
	const struct actor *actor = &self->actors[i];

	self->instants[i][self->now_ns] = (struct instant){
	    .doing = (uint8_t)doing_of(actor),
	    .what = (uint8_t)actor->what,
	    .call = (uint8_t)actor->call,
	    .site = (uint8_t)actor->site,
	    .holds = actor->holds,
	    .waits = actor->waits,
	};
}

/* Calls that have not ended have no events. */
static void drop_open_calls(struct simulation *self)
{
	for (unsigned i = 0; i < N_THREADS; i++)
		for (int64_t t = self->actors[i].since_ns;
		     self->actors[i].what == IN_CALL && t < LENGTH_NS; t++)
			self->instants[i][t].what = OUTSIDE;
}

static void simulate(struct simulation *self)
{
	g_string_append(self->text, self->has_kernel ? "source kernel\n" : "source none\n");
	g_string_append_printf(self->text, "process %u io=0\n", FIRST_TID);
	for (unsigned i = 0; i < N_THREADS; i++)
		g_string_append_printf(self->text, "thread %u start=0 end=%u\n", FIRST_TID + i,
				       LENGTH_NS);
	for (unsigned i = 0; i < N_THREADS; i++) {
		if (self->has_kernel)
			event(self, i, "switch prev=0 next=%u", FIRST_TID + i);
		run_for_a_while(self, &self->actors[i]);
	}
	for (; self->now_ns < LENGTH_NS; self->now_ns++) {
		for (unsigned i = 0; i < N_THREADS; i++)
			step(self, i);
		grant(self);
		for (unsigned i = 0; i < N_THREADS; i++)
			note(self, i);
	}
	/* The last event, so that the capture lasts until here. */
	event(self, 0, "timer");
	drop_open_calls(self);
}

/* --- the obvious account -------------------------------------------------------------------- */

struct sums {
	int64_t wait_ns, idle_ns, blocked_ns, runnable_ns;
};

static bool is_wanted(const struct simulation *self, unsigned i, int64_t t)
{
	bool wanted = false;

	for (unsigned other = 0; other < N_THREADS; other++)
		wanted |= other != i && self->instants[other][t].waits;
	return wanted && self->instants[i][t].holds;
}

static struct sums sum_calls(const struct simulation *self, unsigned call, unsigned site,
			     int64_t from_ns, int64_t to_ns)
{
	struct sums sums = {0};

	for (unsigned i = 0; i < N_THREADS; i++)
		for (int64_t t = from_ns; t < to_ns; t++) {
			const struct instant *at = &self->instants[i][t];

			if (at->what != IN_CALL || at->call != call || at->site != site)
				continue;
			sums.wait_ns++;
			sums.idle_ns += is_idle[call] && !is_wanted(self, i, t);
			sums.blocked_ns += at->doing == BLOCKED;
			sums.runnable_ns += at->doing == RUNNABLE;
		}
	return sums;
}

/* The time blocked in I/O, or otherwise. */
static int64_t sum_blocked(const struct simulation *self, unsigned i, bool in_io)
{
	int64_t ns = 0;

	for (int64_t t = 0; t < LENGTH_NS; t++) {
		const struct instant *at = &self->instants[i][t];
		bool counts = self->has_kernel ? at->doing == BLOCKED && at->what != IN_WAIT
					       : at->what == IN_CALL;

		ns += counts && (at->what == IN_CALL && is_io[at->call]) == in_io;
	}
	return ns;
}

/* --- comparing ------------------------------------------------------------------------------ */

static unsigned n_checked, n_failed;

static void check(const struct simulation *self, const char *what, int64_t expected, int64_t got)
{
	n_checked++;
	if (expected == got)
		return;
	n_failed++;
	if (n_failed < 4)
		printf("%s: expected %" PRId64 ", got %" PRId64 " in\n%s\n", what, expected, got,
		       self->text->str);
}

static int64_t time_at(const struct pp_table *table, unsigned row, const char *key)
{
	const struct pp_cell *cell = pp_table_cell(table, row, key);

	return cell ? cell->time_ns : 0;
}

static void check_row(const struct simulation *self, const struct pp_table *table, unsigned row,
		      const struct sums *sums, const char *what)
{
	static const char *const keys[] = {"wait_ns", "idle_ns", "blocked_ns", "runnable_ns"};
	const int64_t expected[] = {sums->wait_ns, sums->idle_ns,
				    self->has_kernel ? sums->blocked_ns : 0,
				    self->has_kernel ? sums->runnable_ns : 0};

	for (unsigned i = 0; i < G_N_ELEMENTS(keys); i++) {
		g_autofree char *name = g_strdup_printf("%s: %s", what, keys[i]);

		check(self, name, expected[i],
		      row < table->rows->len ? time_at(table, row, keys[i]) : 0);
	}
}

/* The row of the call at the site; without one, a number that is none. */
static unsigned find_row(const struct pp_table *table, unsigned call, unsigned site)
{
	g_autofree char *where = g_strdup_printf("site %u", site);

	for (unsigned row = 0; row < table->rows->len; row++)
		if (strcmp(pp_table_cell(table, row, "call")->text, calls[call]) == 0 &&
		    strcmp(pp_table_cell(table, row, "site")->text, where) == 0)
			return row;
	return UINT_MAX;
}

static void check_calls(const struct simulation *self, const struct pp_table *table,
			int64_t from_ns, int64_t to_ns)
{
	for (unsigned call = 0; call < N_CALLS; call++)
		for (unsigned site = 0; site < N_SITES; site++) {
			struct sums sums = sum_calls(self, call, site, from_ns, to_ns);
			g_autofree char *what =
			    g_strdup_printf("%s at site %u, %" PRId64 " to %" PRId64 " ns",
					    calls[call], site, from_ns, to_ns);

			check_row(self, table, find_row(table, call, site), &sums, what);
		}
}

static void check_threads(const struct simulation *self, const struct pp_table *table)
{
	for (unsigned i = 0; i < N_THREADS; i++) {
		g_autofree char *what = g_strdup_printf("thread %u", FIRST_TID + i);

		check(self, what, sum_blocked(self, i, true), time_at(table, i, "blocked_io_ns"));
		check(self, what, sum_blocked(self, i, false),
		      time_at(table, i, "blocked_other_ns"));
	}
}

static char *name_site(void *data, const struct pp_process *process, uint64_t address)
{
	(void)data;
	(void)process;
	return g_strdup_printf("site %u", (unsigned)address - 0x400);
}

/* Runs the passes over a part of the time. */
static void check_part(const struct simulation *self, struct pp_text *text, int64_t from_ns,
		       int64_t to_ns)
{
	static const char *const names[] = {"io", "threads"};
	static const struct pp_namer namer = {.site = name_site};
	struct pp_selection *selection = pp_selection_new();
	struct pp_pass_context context = {
	    .model = text->model,
	    .namer = &namer,
	    .has_kernel = text->has_kernel,
	    .has_switch_pairs = text->has_switch_pairs,
	    .has_wakings = text->has_wakings,
	    .selection = to_ns - from_ns < LENGTH_NS ? selection : NULL,
	};
	g_autofree char *range = g_strdup_printf("%" PRId64 "ns~%" PRId64 "ns", from_ns, to_ns);
	struct pp_pass_set *passes;
	unsigned n;

	selection->model = text->model;
	(void)pp_select_time(selection, range);
	passes = pp_pass_set_new(&context, names, G_N_ELEMENTS(names));
	for (guint i = 0; i < text->events->len; i++)
		pp_pass_set_event(passes, &g_array_index(text->events, struct pp_event, i));
	pp_pass_set_finish(passes, text->model->end_ns);
	check_calls(self, pp_pass_set_tables(passes, "io", &n)[0], from_ns, to_ns);
	if (!context.selection)
		check_threads(self, pp_pass_set_tables(passes, "threads", &n)[0]);
	pp_pass_set_free(passes);
	pp_selection_free(selection);
}

static void run(uint32_t seed)
{
	struct simulation *self = g_new0(struct simulation, 1);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_text *text = NULL;

	self->rand = g_rand_new_with_seed(seed);
	self->text = g_string_new(NULL);
	self->has_kernel = seed % 2;
	simulate(self);
	if (pp_text_read(self->text->str, "simulation", 1, &text, &err)) {
		g_autofree char *what = pp_error_text(&err);

		printf("%s\n", what);
		n_failed++;
	} else {
		int64_t middle_ns = draw(self, 1, LENGTH_NS - 1);

		check_part(self, text, 0, LENGTH_NS);
		check_part(self, text, 0, middle_ns);
		check_part(self, text, middle_ns, LENGTH_NS);
		pp_text_free(text);
	}
	pp_error_done(&err);
	g_rand_free(self->rand);
	g_string_free(self->text, TRUE);
	g_free(self);
}

int main(void)
{
	for (uint32_t seed = 0; seed < 100; seed++)
		run(seed);
	printf("%u checked, %u failed\n", n_checked, n_failed);
	return n_failed || !n_checked;
}
