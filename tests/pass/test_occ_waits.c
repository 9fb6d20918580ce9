/* SPDX-License-Identifier: MIT */
/*
 * Compares the pass "occ-timing" with random runs of threads that share one mutex, which is handed
 * to any of the waiters: the expected figures are added up while the run is made, with the list of
 * all holds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "event_text.h"
#include "analysis/pass_set.h"

#define N_RUNS	  300
#define N_THREADS 5
#define N_STEPS	  200

struct sums {
	uint64_t acquired, holds;
	int64_t wait_ns, hold_ns;
};

struct run {
	GString *events;
	int64_t now_ns;
	int holder; /* -1: nobody */
	int64_t held_since_ns;
	int64_t waits_since_ns[N_THREADS]; /* -1: it does not wait */
	/* All holds so far, and how many there were, or had begun, when the wait began. */
	unsigned n_holds, before[N_THREADS];
	struct sums sums[N_THREADS];
};

static void put(struct run *run, const char *op, int thread)
{
	g_string_append_printf(run->events, "%" PRId64 " %s tid=%d object=0x2000 site=0x401\n",
			       run->now_ns, op, thread + 1);
}

static void acquire(struct run *run, int thread)
{
	struct sums *sums = &run->sums[thread];

	if (run->waits_since_ns[thread] >= 0) {
		sums->wait_ns += run->now_ns - run->waits_since_ns[thread];
		sums->holds += run->n_holds - run->before[thread];
		run->waits_since_ns[thread] = -1;
	}
	put(run, "mutex_lock", thread);
	sums->acquired++;
	run->n_holds++;
	run->holder = thread;
	run->held_since_ns = run->now_ns;
}

/* Ends the hold; then sometimes a waiter gets the mutex, sometimes another thread is first. */
static void release(struct run *run)
{
	int first = rand() % N_THREADS;

	run->sums[run->holder].hold_ns += run->now_ns - run->held_since_ns;
	put(run, "mutex_unlock", run->holder);
	run->holder = -1;
	if (rand() % 3 == 0)
		return;
	for (int i = 0; i < N_THREADS; i++)
		if (run->waits_since_ns[(first + i) % N_THREADS] >= 0) {
			acquire(run, (first + i) % N_THREADS);
			return;
		}
}

static void step(struct run *run)
{
	int thread = rand() % N_THREADS;

	run->now_ns += 1 + rand() % 9;
	if (run->holder == thread) {
		release(run);
	} else if (run->holder < 0) {
		acquire(run, thread);
	} else if (run->waits_since_ns[thread] < 0) {
		run->waits_since_ns[thread] = run->now_ns;
		run->before[thread] = run->n_holds - 1; /* it waits for the present one, too */
		put(run, "mutex_lock_begin", thread);
	}
}

/* Makes a run in which all waits and holds end. */
static void make(struct run *run)
{
	*run = (struct run){.events = g_string_new("source none\n"), .holder = -1};
	for (int i = 0; i < N_THREADS; i++) {
		run->waits_since_ns[i] = -1;
		g_string_append_printf(run->events, "thread %d start=0 end=100000\n", i + 1);
	}
	for (int i = 0; i < N_STEPS; i++)
		step(run);
	for (int i = 0; i < N_THREADS; i++) {
		run->now_ns++;
		if (run->holder >= 0)
			release(run);
		for (int k = 0; run->holder < 0 && k < N_THREADS; k++)
			if (run->waits_since_ns[k] >= 0)
				acquire(run, k);
	}
	run->now_ns++;
	if (run->holder >= 0)
		put(run, "mutex_unlock", run->holder);
	if (run->holder >= 0)
		run->sums[run->holder].hold_ns += run->now_ns - run->held_since_ns;
}

static uint64_t count(const struct pp_table *table, guint row, const char *key)
{
	return pp_table_cell(table, row, key)->count;
}

static unsigned compare(const struct run *run, const struct pp_table *table, unsigned number)
{
	const struct pp_table *threads = pp_table_cell(table, 0, "threads")->table;
	unsigned n_wrong = 0;

	for (guint i = 0; i < threads->rows->len; i++) {
		const struct sums *want = &run->sums[count(threads, i, "tid") - 1];
		struct sums got = {count(threads, i, "exclusive"), count(threads, i, "holds"),
				   pp_table_cell(threads, i, "wait_ns")->time_ns,
				   pp_table_cell(threads, i, "hold_ns")->time_ns};

		if (got.acquired == want->acquired && got.holds == want->holds &&
		    got.wait_ns == want->wait_ns && got.hold_ns == want->hold_ns)
			continue;
		printf("run %u, thread %u: %" PRIu64 " acquisitions, %" PRIu64
		       " holders, wait %" PRId64 ", hold %" PRId64 "; expected %" PRIu64
		       ", %" PRIu64 ", %" PRId64 ", %" PRId64 "\n",
		       number, i + 1, got.acquired, got.holds, got.wait_ns, got.hold_ns,
		       want->acquired, want->holds, want->wait_ns, want->hold_ns);
		n_wrong++;
	}
	return n_wrong;
}

static unsigned check(unsigned number)
{
	static const char *const name = "occ-timing";
	struct pp_error err = PP_ERROR_INIT;
	struct pp_pass_context context = {0};
	struct pp_text *text = NULL;
	struct pp_pass_set *set;
	unsigned n = 0, n_wrong;
	struct run run;

	srand(number);
	make(&run);
	if (pp_text_read(run.events->str, "random", 1, &text, &err)) {
		printf("run %u: %s\n", number, pp_error_text(&err));
		return 1;
	}
	context.model = text->model;
	set = pp_pass_set_new(&context, &name, 1);
	for (guint i = 0; i < text->events->len; i++)
		pp_pass_set_event(set, &g_array_index(text->events, struct pp_event, i));
	pp_pass_set_finish(set, text->model->end_ns);
	n_wrong = compare(&run, pp_pass_set_tables(set, name, &n)[0], number);
	pp_pass_set_free(set);
	pp_text_free(text);
	g_string_free(run.events, TRUE);
	return n_wrong;
}

int main(void)
{
	unsigned n_wrong = 0;

	for (unsigned number = 0; number < N_RUNS; number++)
		n_wrong += check(number);
	return n_wrong ? 1 : 0;
}
