/* SPDX-License-Identifier: MIT */
/*
 * Compares the cost of contended releases with random runs of threads, each on a CPU of its own,
 * which is sometimes taken from it.  The expected cost is computed from a list of all steps, and
 * from what each thread did in each nanosecond.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event_text.h"
#include "analysis/pass_set.h"

#define N_RUNS	  200
#define N_THREADS 4
#define N_LOCKS	  2
#define N_STEPS	  1500
#define N_SITES	  2	/* of acquisitions, and of releases, of each lock */
#define MOST_NS	  20000 /* of a run */
#define LEAST	  8	/* times that are compared */

enum did { DID_NOTHING, DID_RUN, DID_WAIT };

/* The begin of a step; a release is one. */
struct step {
	int64_t at_ns;
	unsigned site; /* 0: it was blocked elsewhere */
	bool is_release, had_waiters, woke;
};

struct thread {
	struct step steps[N_STEPS];
	unsigned n_steps;
	enum did did[MOST_NS]; /* in that nanosecond */
	int waits_for;	       /* a lock; -1: none */
	unsigned site;	       /* of that wait */
	bool is_running, is_asleep;
	int64_t since_ns; /* without a CPU */
};

struct run {
	GString *events;
	int64_t now_ns;
	int holder[N_LOCKS]; /* -1: nobody */
	struct thread threads[N_THREADS];
};

static void pass_time(struct run *run, int64_t ns)
{
	for (int t = 0; t < N_THREADS; t++)
		for (int64_t at = run->now_ns; at < run->now_ns + ns; at++) {
			struct thread *thread = &run->threads[t];

			thread->did[at] = thread->waits_for >= 0 ? DID_WAIT
					  : thread->is_running	 ? DID_RUN
								 : DID_NOTHING;
		}
	run->now_ns += ns;
}

static void put_switch(struct run *run, int t, bool on, const char *state)
{
	if (on)
		g_string_append_printf(run->events, "%" PRId64 " switch prev=0 next=%d cpu=%d\n",
				       run->now_ns, t + 1, t);
	else
		g_string_append_printf(run->events,
				       "%" PRId64 " switch prev=%d next=0 state=%s cpu=%d\n",
				       run->now_ns, t + 1, state, t);
	run->threads[t].is_running = on;
	run->threads[t].since_ns = run->now_ns;
}

static void put_operation(struct run *run, int t, const char *op, int lock, unsigned site)
{
	g_string_append_printf(run->events, "%" PRId64 " %s tid=%d object=0x%x site=0x%x\n",
			       run->now_ns, op, t + 1, 0x2000 + 0x40 * lock, site);
}

static struct step *add_step(struct run *run, int t, unsigned site)
{
	struct thread *thread = &run->threads[t];
	struct step *step = &thread->steps[thread->n_steps++];

	*step = (struct step){.at_ns = run->now_ns, .site = site};
	return step;
}

static unsigned site_of(unsigned lock, bool is_release, unsigned number)
{
	return 0x400 + 0x40 * lock + 0x10 * is_release + number;
}

static unsigned random_site(int lock, bool is_release)
{
	return site_of((unsigned)lock, is_release, (unsigned)rand() % N_SITES);
}

static int waiter_of(const struct run *run, int lock)
{
	int first = rand() % N_THREADS;

	for (int i = 0; i < N_THREADS; i++)
		if (run->threads[(first + i) % N_THREADS].waits_for == lock)
			return (first + i) % N_THREADS;
	return -1;
}

static int held_by(const struct run *run, int t)
{
	for (int lock = 0; lock < N_LOCKS; lock++)
		if (run->holder[lock] == t)
			return lock;
	return -1;
}

static void wake(struct run *run, int waker, int t)
{
	struct thread *by = &run->threads[waker];

	g_string_append_printf(run->events, "%" PRId64 " waking tid=%d waker=%d\n", run->now_ns,
			       t + 1, waker + 1);
	if (by->n_steps && by->steps[by->n_steps - 1].had_waiters)
		by->steps[by->n_steps - 1].woke = true;
}

static void release(struct run *run, int t, int lock)
{
	unsigned site = random_site(lock, true);
	int waiter = waiter_of(run, lock);
	struct step *step = add_step(run, t, site);

	put_operation(run, t, "mutex_unlock", lock, site);
	step->is_release = true;
	step->had_waiters = waiter >= 0;
	run->holder[lock] = -1;
	if (waiter < 0 || run->threads[waiter].is_running)
		return;
	/* The kernel takes a while to wake the waiter. */
	pass_time(run, 1 + rand() % 9);
	wake(run, t, waiter);
	put_switch(run, waiter, true, NULL);
}

/* A thread that waits and runs takes its lock if it is free, or blocks. */
static void go_on_waiting(struct run *run, int t)
{
	struct thread *thread = &run->threads[t];
	int lock = thread->waits_for;

	if (run->holder[lock] >= 0) {
		put_switch(run, t, false, "S");
		return;
	}
	put_operation(run, t, "mutex_lock", lock, thread->site);
	add_step(run, t, thread->site);
	run->holder[lock] = t;
	thread->waits_for = -1;
}

static void acquire(struct run *run, int t, int lock)
{
	struct thread *thread = &run->threads[t];
	unsigned site = random_site(lock, false);

	if (run->holder[lock] < 0) {
		put_operation(run, t, "mutex_lock", lock, site);
		add_step(run, t, site);
		run->holder[lock] = t;
		return;
	}
	put_operation(run, t, "mutex_lock_begin", lock, site);
	thread->waits_for = lock;
	thread->site = site;
}

/* It gets its CPU again, after a sleep of its own a new step begins. */
static void resume(struct run *run, int t)
{
	struct thread *thread = &run->threads[t];

	if (thread->is_asleep && run->now_ns > thread->since_ns)
		add_step(run, t, 0);
	if (thread->is_asleep)
		g_string_append_printf(run->events, "%" PRId64 " waking tid=%d interrupt\n",
				       run->now_ns, t + 1);
	thread->is_asleep = false;
	put_switch(run, t, true, NULL);
}

static void act(struct run *run)
{
	int t = rand() % N_THREADS, kind = rand() % 20, lock = held_by(run, t);
	struct thread *thread = &run->threads[t];

	pass_time(run, 1 + rand() % 5);
	if (!thread->is_running) {
		if (thread->waits_for < 0)
			resume(run, t);
		else if (run->holder[thread->waits_for] < 0 &&
			 waiter_of(run, thread->waits_for) == t)
			resume(run, t); /* it woke up without a reason */
	} else if (thread->waits_for >= 0) {
		go_on_waiting(run, t);
	} else if (kind < 2) {
		thread->is_asleep = kind == 0;
		put_switch(run, t, false, kind ? "R" : "S");
	} else if (lock >= 0) {
		release(run, t, lock);
	} else {
		acquire(run, t, rand() % N_LOCKS);
	}
}

static void make(struct run *run)
{
	memset(run, 0, sizeof(*run));
	run->events = g_string_new(NULL);
	for (int lock = 0; lock < N_LOCKS; lock++)
		run->holder[lock] = -1;
	for (int t = 0; t < N_THREADS; t++) {
		run->threads[t].waits_for = -1;
		g_string_append_printf(run->events, "thread %d start=0 end=%d\n", t + 1, MOST_NS);
	}
	for (int t = 0; t < N_THREADS; t++)
		put_switch(run, t, true, NULL);
	for (int i = 0; i < N_STEPS - 2 && run->now_ns < MOST_NS - 20; i++)
		act(run);
	/* Waits that do not end are steps, too. */
	for (int t = 0; t < N_THREADS; t++)
		if (run->threads[t].waits_for >= 0)
			add_step(run, t, run->threads[t].site);
}

/* --- the expected cost ---------------------------------------------------------------------- */

struct mean {
	double sum;
	unsigned n;
};

static void add_time(const struct thread *thread, unsigned i, struct mean *mean)
{
	mean->n++;
	for (int64_t at = thread->steps[i].at_ns; at < thread->steps[i + 1].at_ns; at++)
		mean->sum += thread->did[at] == DID_RUN;
}

/* The times between two call sites; means[1] if others waited. */
static void add_times(const struct run *run, unsigned from, unsigned to, struct mean means[2])
{
	for (int t = 0; t < N_THREADS; t++) {
		const struct thread *thread = &run->threads[t];

		for (unsigned i = 0; i + 1 < thread->n_steps; i++)
			if (thread->steps[i].is_release && thread->steps[i].site == from &&
			    thread->steps[i + 1].site == to)
				add_time(thread, i, &means[thread->steps[i].had_waiters]);
	}
}

static bool has_woken(const struct run *run)
{
	for (int t = 0; t < N_THREADS; t++)
		for (unsigned i = 0; i < run->threads[t].n_steps; i++)
			if (run->threads[t].steps[i].woke)
				return true;
	return false;
}

static unsigned all_sites(unsigned *sites)
{
	unsigned n = 0;

	sites[n++] = 0;
	for (unsigned lock = 0; lock < N_LOCKS; lock++)
		for (unsigned is_release = 0; is_release < 2; is_release++)
			for (unsigned i = 0; i < N_SITES; i++)
				sites[n++] = site_of(lock, is_release, i);
	return n;
}

static double expected_ns(const struct run *run)
{
	unsigned sites[1 + 2 * N_LOCKS * N_SITES], n_sites = all_sites(sites);
	double sum = 0, n = 0;

	for (unsigned from = 0; from < n_sites; from++)
		for (unsigned to = 0; to < n_sites; to++) {
			struct mean means[2] = {{0}};

			add_times(run, sites[from], sites[to], means);
			if (means[0].n < LEAST || means[1].n < LEAST)
				continue;
			n += means[1].n;
			sum += means[1].n * (means[1].sum / means[1].n - means[0].sum / means[0].n);
		}
	return n > 0 && has_woken(run) ? floor(fmax(sum / n, 0) + 1e-9) : 0;
}

static uint64_t n_releases(const struct thread *thread)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < thread->n_steps; i++)
		n += thread->steps[i].had_waiters;
	return n;
}

/* --- the comparison ------------------------------------------------------------------------- */

static unsigned compare_counts(const struct run *run, const struct pp_table *table, unsigned number)
{
	uint64_t got[N_THREADS] = {0};
	unsigned n_wrong = 0;

	for (guint row = 0; row < table->rows->len; row++) {
		const struct pp_table *threads = pp_table_cell(table, row, "threads")->table;

		for (guint i = 0; i < threads->rows->len; i++)
			got[pp_table_cell(threads, i, "tid")->count - 1] +=
			    pp_table_cell(threads, i, "contended_releases")->count;
	}
	for (int t = 0; t < N_THREADS; t++) {
		if (got[t] == n_releases(&run->threads[t]))
			continue;
		printf("run %u, thread %d: %" PRIu64 " contended releases, expected %" PRIu64 "\n",
		       number, t + 1, got[t], n_releases(&run->threads[t]));
		n_wrong++;
	}
	return n_wrong;
}

static unsigned compare_cost(const struct run *run, const struct pp_table *costs, unsigned number,
			     unsigned *n_costs)
{
	const struct pp_cell *cell = pp_table_cell(costs, 0, "release_ns");
	double got = cell ? cell->number : 0, want = expected_ns(run);

	*n_costs += want > 0;
	if (got == want)
		return 0;
	printf("run %u: a contended release costs %g ns, expected %g\n", number, got, want);
	return 1;
}

static unsigned check(unsigned number, struct run *run, unsigned *n_costs)
{
	static const char *const name = "occ-timing";
	struct pp_pass_context context = {.has_kernel = true, .has_switch_pairs = true};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_table *const *tables;
	struct pp_text *text = NULL;
	struct pp_pass_set *set;
	unsigned n = 0, n_wrong;

	srand(number);
	make(run);
	if (pp_text_read(run->events->str, "random", 1, &text, &err)) {
		printf("run %u: %s\n", number, pp_error_text(&err));
		return 1;
	}
	context.model = text->model;
	context.has_wakings = true;
	set = pp_pass_set_new(&context, &name, 1);
	for (guint i = 0; i < text->events->len; i++)
		pp_pass_set_event(set, &g_array_index(text->events, struct pp_event, i));
	pp_pass_set_finish(set, text->model->end_ns);
	tables = pp_pass_set_tables(set, name, &n);
	n_wrong = compare_counts(run, tables[0], number);
	n_wrong += compare_cost(run, tables[2], number, n_costs);
	pp_pass_set_free(set);
	pp_text_free(text);
	g_string_free(run->events, TRUE);
	return n_wrong;
}

int main(void)
{
	struct run *run = g_new(struct run, 1);
	unsigned n_wrong = 0, n_costs = 0;

	for (unsigned number = 0; number < N_RUNS; number++)
		n_wrong += check(number, run, &n_costs);
	g_free(run);
	if (n_costs < N_RUNS / 4) {
		printf("only %u of %d runs have a cost\n", n_costs, N_RUNS);
		n_wrong++;
	}
	return n_wrong ? 1 : 0;
}
