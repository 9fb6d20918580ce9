/* SPDX-License-Identifier: MIT */
/* See blame_simulation.h. */
#include "blame_simulation.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#define MAX_THREADS 20u
#define N_LOCKS	    3 /* 0 is a read-write lock, the others are mutexes, or 1 is a semaphore */
#define SEMAPHORE   1
#define N_STEPS	    120

/* Each number of readers divides a step. */
static const struct kind {
	unsigned n_threads;
	int64_t step_ns;
	int one_of; /* lock operations of which one is no read; 0: at random */
} few = {4, 60, 0}, many = {MAX_THREADS, 232792560, 6};

struct hold {
	bool held, shared;
	unsigned acquired, released; /* call sites */
};

struct thread {
	bool runs, sleeps; /* sleeps: in a wait; else it is ready */
	int waits_for;	   /* a lock; -1: none */
	bool shared, timed;
	unsigned site;
	struct hold holds[N_LOCKS];
};

struct simulation {
	const struct kind *kind;
	bool has_semaphore;
	GRand *rand;
	GString *events;
	int64_t now_ns;
	struct thread threads[MAX_THREADS];
	GHashTable *expected, *nested;
};

static bool chance(struct simulation *sim, int one_in)
{
	return g_rand_int_range(sim->rand, 0, one_in) == 0;
}

/* Adds an event at the current time; all events of a step have the same. */
static void add(struct simulation *sim, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void add(struct simulation *sim, const char *format, ...)
{
	va_list args;

	g_string_append_printf(sim->events, "%" PRId64 " ", sim->now_ns);
	va_start(args, format);
	g_string_append_vprintf(sim->events, format, args);
	va_end(args);
	g_string_append_c(sim->events, '\n');
}

static unsigned n_holders(const struct simulation *sim, int lock)
{
	unsigned n = 0;

	for (unsigned i = 0; i < sim->kind->n_threads; i++)
		n += sim->threads[i].holds[lock].held;
	return n;
}

static bool is_free(const struct simulation *sim, int lock, bool shared)
{
	for (unsigned i = 0; i < sim->kind->n_threads; i++) {
		const struct hold *hold = &sim->threads[i].holds[lock];

		if (hold->held && !(shared && hold->shared))
			return false;
	}
	return true;
}

static struct figures *expected_at(GHashTable *expected, const char *key)
{
	struct figures *figures = g_hash_table_lookup(expected, key);

	if (!figures) {
		figures = g_new0(struct figures, 1);
		g_hash_table_insert(expected, g_strdup(key), figures);
	}
	return figures;
}

/* Charges a part of a step one step further: the holder by that key sleeps in a wait. */
static void charge_nested(struct simulation *sim, const char *blamed, int lock, int64_t ns)
{
	unsigned n = n_holders(sim, lock);
	g_autofree char *hand_over = g_strdup_printf("%s: %d hand-over", blamed, lock);

	if (!n) {
		expected_at(sim->nested, hand_over)->wait_ns += ns;
		return;
	}
	for (unsigned i = 0; i < sim->kind->n_threads; i++) {
		const struct hold *hold = &sim->threads[i].holds[lock];
		g_autofree char *key = g_strdup_printf("%s: %d holder 0x%x 0x%x", blamed, lock,
						       hold->released, hold->acquired);

		if (hold->held)
			expected_at(sim->nested, key)->wait_ns += ns / n;
	}
}

/* Charges one step of a wait for the lock. */
static void charge_step(struct simulation *sim, int lock)
{
	unsigned n = n_holders(sim, lock);
	g_autofree char *hand_over = g_strdup_printf("%d hand-over", lock);

	if (!n) {
		expected_at(sim->expected, hand_over)->wait_ns += sim->kind->step_ns;
		return;
	}
	for (unsigned i = 0; i < sim->kind->n_threads; i++) {
		const struct thread *thread = &sim->threads[i];
		const struct hold *hold = &thread->holds[lock];
		g_autofree char *key =
		    g_strdup_printf("%d holder 0x%x 0x%x", lock, hold->released, hold->acquired);
		struct figures *figures;

		if (!hold->held)
			continue;
		figures = expected_at(sim->expected, key);
		figures->wait_ns += sim->kind->step_ns / n;
		*(thread->runs	   ? &figures->running_ns
		  : thread->sleeps ? &figures->sync_ns
				   : &figures->runnable_ns) += sim->kind->step_ns / n;
		if (!thread->runs && thread->sleeps)
			charge_nested(sim, key, thread->waits_for, sim->kind->step_ns / n);
	}
}

static const char *op_of(const struct simulation *sim, int lock, const struct thread *thread)
{
	if (lock == SEMAPHORE && sim->has_semaphore)
		return "sem_wait";
	if (lock > 0)
		return thread->timed ? "mutex_timedlock" : "mutex_lock";
	if (thread->shared)
		return thread->timed ? "rwlock_timedrdlock" : "rwlock_rdlock";
	return thread->timed ? "rwlock_timedwrlock" : "rwlock_wrlock";
}

static void end_operation(struct simulation *sim, unsigned tid, int lock, unsigned result)
{
	const struct thread *thread = &sim->threads[tid - 1];

	add(sim, "%s tid=%u object=0x%x site=0x%x result=%u", op_of(sim, lock, thread), tid,
	    0x1000 * (lock + 1), thread->site, result);
}

static void acquire(struct simulation *sim, unsigned tid, int lock)
{
	struct thread *thread = &sim->threads[tid - 1];

	thread->waits_for = -1;
	thread->holds[lock] = (struct hold){
	    .held = true,
	    .shared = !lock && thread->shared,
	    .acquired = thread->site,
	    .released = 0x100 * tid + (unsigned)g_rand_int_range(sim->rand, 0x10, 0x13),
	};
	end_operation(sim, tid, lock, 0);
}

/* Locks are taken in their order, so that there is no deadlock. */
static int highest(const struct thread *thread)
{
	for (int lock = N_LOCKS; lock-- > 0;)
		if (thread->holds[lock].held)
			return lock;
	return -1;
}

static void begin(struct simulation *sim, unsigned tid)
{
	struct thread *thread = &sim->threads[tid - 1];
	int least = highest(thread) + 1, lock;

	if (least == N_LOCKS)
		return;
	lock = g_rand_int_range(sim->rand, least, N_LOCKS);
	if (!least && sim->kind->one_of && !chance(sim, sim->kind->one_of))
		lock = 0;
	thread->shared = !lock && !chance(sim, sim->kind->one_of ?: 2);
	/* A semaphore has no known holder when a wait times out. */
	thread->timed = chance(sim, 4) && !(lock == SEMAPHORE && sim->has_semaphore);
	thread->site = 0x100 * tid + (unsigned)g_rand_int_range(sim->rand, 1, 4);
	if (is_free(sim, lock, thread->shared)) {
		acquire(sim, tid, lock);
		return;
	}
	thread->waits_for = lock;
	add(sim, "%s_begin tid=%u object=0x%x site=0x%x", op_of(sim, lock, thread), tid,
	    0x1000 * (lock + 1), thread->site);
}

static void release(struct simulation *sim, unsigned tid, int lock)
{
	struct hold *hold = &sim->threads[tid - 1].holds[lock];
	const char *op = lock == SEMAPHORE && sim->has_semaphore ? "sem_post"
			 : lock					 ? "mutex_unlock"
								 : "rwlock_unlock";
	/* A path for each call site, and not for all. */
	g_autofree char *path = hold->released % 2
				    ? g_strdup_printf(" path=0x%x,0x%x,0x900", hold->released,
						      0x901 + hold->released % 3)
				    : g_strdup("");

	hold->held = false;
	add(sim, "%s tid=%u object=0x%x site=0x%x%s", op, tid, 0x1000 * (lock + 1), hold->released,
	    path);
}

/* At the end, threads only go on until all waits have ended. */
static void step_thread(struct simulation *sim, unsigned tid, bool at_end)
{
	struct thread *thread = &sim->threads[tid - 1];
	int lock = thread->waits_for;

	if (chance(sim, 5) && !at_end) {
		thread->sleeps = thread->runs && lock >= 0 && chance(sim, 2);
		if (thread->runs)
			add(sim, "switch prev=%u next=0 state=%s cpu=%u", tid,
			    thread->sleeps ? "S" : "R", tid);
		else
			add(sim, "switch prev=0 next=%u cpu=%u", tid, tid);
		thread->runs = !thread->runs;
	}
	if (!thread->runs && at_end) {
		add(sim, "switch prev=0 next=%u cpu=%u", tid, tid);
		thread->runs = true;
	}
	if (!thread->runs)
		return;
	if (lock >= 0) {
		if (is_free(sim, lock, thread->shared) && chance(sim, 2)) {
			acquire(sim, tid, lock);
		} else if (thread->timed && chance(sim, 4)) {
			thread->waits_for = -1;
			end_operation(sim, tid, lock, BLAME_TIMED_OUT);
		}
		return;
	}
	lock = highest(thread);
	if (lock >= 0 && (at_end || chance(sim, 4)))
		release(sim, tid, lock);
	else if (!at_end && chance(sim, 2))
		begin(sim, tid);
}

static bool is_over(const struct simulation *sim)
{
	for (unsigned i = 0; i < sim->kind->n_threads; i++)
		if (sim->threads[i].waits_for >= 0 || highest(&sim->threads[i]) >= 0)
			return false;
	return true;
}

static void simulate(struct simulation *sim)
{
	g_string_append(sim->events, "source kernel\n");
	for (unsigned tid = 1; tid <= sim->kind->n_threads; tid++)
		g_string_append_printf(sim->events, "thread %u start=0 end=%" PRId64 "\n", tid,
				       20000 * sim->kind->step_ns);
	for (unsigned tid = 1; tid <= sim->kind->n_threads; tid++) {
		sim->threads[tid - 1] = (struct thread){.runs = true, .waits_for = -1};
		add(sim, "switch prev=0 next=%u cpu=%u", tid, tid);
	}
	for (unsigned step = 0; step < N_STEPS || !is_over(sim); step++) {
		sim->now_ns += sim->kind->step_ns;
		for (unsigned i = 0; i < sim->kind->n_threads; i++)
			if (sim->threads[i].waits_for >= 0)
				charge_step(sim, sim->threads[i].waits_for);
		for (unsigned tid = 1; tid <= sim->kind->n_threads; tid++)
			step_thread(sim, tid, step >= N_STEPS);
	}
}

struct blame_simulation blame_simulate(unsigned run, bool is_many)
{
	struct simulation sim = {
	    .kind = is_many ? &many : &few,
	    .has_semaphore = run % 3 == 0,
	    .rand = g_rand_new_with_seed(run),
	    .events = g_string_new(NULL),
	    .expected = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
	    .nested = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
	};

	simulate(&sim);
	g_rand_free(sim.rand);
	return (struct blame_simulation){sim.events, sim.expected, sim.nested};
}

void blame_simulation_done(struct blame_simulation *result)
{
	g_hash_table_unref(result->expected);
	g_hash_table_unref(result->nested);
	g_string_free(result->events, TRUE);
}
