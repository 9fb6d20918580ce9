/* SPDX-License-Identifier: MIT */
/*
 * Compares the suspects of section `blame` with sums that are made the slow way: a simulation of
 * threads, locks, a semaphore and calls of poll() goes on in steps, and shares each step of each
 * waiting thread among those that work then.
 */
#include <inttypes.h>
#include <stdio.h>

#include "event_text.h"
#include "analysis/pass_set.h"

#define N_RUNS	  400
#define N_THREADS 5
#define N_LOCKS	  3 /* 0 is a read-write lock, the others are mutexes */
#define N_STEPS	  100
#define STEP_NS	  60 /* can be divided by each number of threads */

enum { HOLDER, WORKER, N_KINDS };
enum { NOTHING = -1, SEMAPHORE = N_LOCKS };

static char *name_address(void *data, const struct pp_process *process, uint64_t address)
{
	(void)data;
	(void)process;
	return g_strdup_printf("0x%" PRIx64, address);
}

static const struct pp_namer namer = {.site = name_address, .function = name_address};

struct thread {
	unsigned first_step, last_step; /* it lives from the first up to the last one */
	int waits_for;			/* a lock, or SEMAPHORE */
	bool shared;			/* ... as a reader */
	int idle_kind;			/* ... or for a semaphore that was a lock then */
	unsigned units;			/* of the semaphore: acquired and not posted */
	unsigned site;
	int64_t in_poll_since_ns; /* 0: it is not in poll() */
	unsigned poll_until;	  /* the step in which it returns */
	bool holds[N_LOCKS];
	int64_t pending_ns[N_KINDS];
	GHashTable *since; /* "kind at" -> int64_t *: at calls since the last sample */
};

struct simulation {
	GRand *rand;
	GString *events;
	bool has_samples;
	int64_t now_ns;
	unsigned step, value; /* of the semaphore */
	bool value_is_lock;   /* the last one that posted it had acquired it */
	bool lock_is_shared;
	struct thread threads[N_THREADS];
	GHashTable *expected; /* "kind at" -> int64_t * */
};

static bool chance(struct simulation *sim, int one_in)
{
	return g_rand_int_range(sim->rand, 0, one_in) == 0;
}

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

static void expect_in(GHashTable *sums, const char *kind, const char *at, int64_t ns)
{
	g_autofree char *key = g_strdup_printf("%s %s", kind, at);
	int64_t *sum = g_hash_table_lookup(sums, key);

	if (!ns)
		return;
	if (!sum) {
		sum = g_new0(int64_t, 1);
		g_hash_table_insert(sums, g_steal_pointer(&key), sum);
	}
	*sum += ns;
}

static void expect(struct simulation *sim, const char *kind, const char *at, int64_t ns)
{
	expect_in(sim->expected, kind, at, ns);
}

static void charge(GHashTable *sums, struct thread *thread, const char *at)
{
	expect_in(sums, "holder", at, thread->pending_ns[HOLDER]);
	expect_in(sums, "worker", at, thread->pending_ns[WORKER]);
	thread->pending_ns[HOLDER] = thread->pending_ns[WORKER] = 0;
}

/* at: of the sample; NULL: there is no more. */
static void charge_calls(struct simulation *sim, const struct thread *thread, const char *at)
{
	GHashTableIter iter;
	gpointer key, value;

	g_hash_table_iter_init(&iter, thread->since);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		g_auto(GStrv) parts = g_strsplit(key, " ", 2);

		expect(sim, parts[0], at ? at : parts[1], *(const int64_t *)value);
	}
	g_hash_table_remove_all(thread->since);
}

static bool lives(const struct simulation *sim, const struct thread *thread)
{
	return sim->step > thread->first_step && sim->step <= thread->last_step;
}

static bool holds_any(const struct simulation *sim, const struct thread *thread)
{
	if (sim->value_is_lock && thread->units)
		return true;
	for (int lock = 0; lock < N_LOCKS; lock++)
		if (thread->holds[lock])
			return true;
	return false;
}

/* Shares the step that has passed. */
static void share_step(struct simulation *sim)
{
	struct thread *working[N_KINDS][N_THREADS];
	int64_t n_working[N_KINDS] = {0}, n_idle[N_KINDS] = {0};

	for (unsigned i = 0; i < N_THREADS; i++) {
		struct thread *thread = &sim->threads[i];
		int kind = holds_any(sim, thread) ? HOLDER : WORKER;

		if (!lives(sim, thread))
			continue;
		if (thread->waits_for != NOTHING)
			n_idle[thread->idle_kind]++;
		else if (kind == HOLDER || !thread->in_poll_since_ns)
			working[kind][n_working[kind]++] = thread;
	}
	for (int kind = 0; kind < N_KINDS; kind++) {
		for (int i = 0; i < n_working[kind]; i++)
			working[kind][i]->pending_ns[kind] +=
			    n_idle[kind] * STEP_NS / n_working[kind];
		if (!n_working[kind])
			expect(sim,
			       kind == HOLDER ? "nobody: no thread worked with a lock"
					      : "nobody: no thread worked without a lock",
			       "-", n_idle[kind] * STEP_NS);
	}
}

/* --- what threads do ------------------------------------------------------------------------ */

static const char *op_of(const struct thread *thread, int object)
{
	if (object == SEMAPHORE)
		return "sem_wait";
	return object ? "mutex_lock" : thread->shared ? "rwlock_rdlock" : "rwlock_wrlock";
}

/* Adds an event of the thread; its end is where the thread is charged, if no sample follows. */
static void operate(struct simulation *sim, unsigned tid, const char *op, int object, bool begins)
{
	struct thread *thread = &sim->threads[tid - 1];
	g_autofree char *at = g_strdup_printf("0x%x", thread->site);

	add(sim, "%s%s tid=%u object=0x%x site=%s", op, begins ? "_begin" : "", tid,
	    0x1000 * (unsigned)(object + 1), at);
	if (!begins)
		charge(thread->since, thread, at);
}

static bool is_free(const struct simulation *sim, int object, bool shared)
{
	if (object == SEMAPHORE)
		return sim->value;
	for (unsigned i = 0; i < N_THREADS; i++)
		if (sim->threads[i].holds[object] &&
		    !(object == 0 && shared && sim->lock_is_shared))
			return false;
	return true;
}

static void acquire(struct simulation *sim, unsigned tid, int object)
{
	struct thread *thread = &sim->threads[tid - 1];

	operate(sim, tid, op_of(thread, object), object, false);
	thread->waits_for = NOTHING;
	if (object == SEMAPHORE) {
		sim->value--;
		thread->units++;
		return;
	}
	thread->holds[object] = true;
	if (object == 0)
		sim->lock_is_shared = thread->shared;
}

static void begin(struct simulation *sim, unsigned tid)
{
	struct thread *thread = &sim->threads[tid - 1];
	int object = g_rand_int_range(sim->rand, 0, SEMAPHORE + 1);

	if (object != SEMAPHORE && thread->holds[object])
		return;
	thread->shared = chance(sim, 2);
	if (is_free(sim, object, thread->shared)) {
		acquire(sim, tid, object);
		return;
	}
	operate(sim, tid, op_of(thread, object), object, true);
	thread->waits_for = object;
	thread->idle_kind = object == SEMAPHORE && !sim->value_is_lock ? WORKER : HOLDER;
}

static void release(struct simulation *sim, unsigned tid)
{
	struct thread *thread = &sim->threads[tid - 1];
	int object = g_rand_int_range(sim->rand, 0, SEMAPHORE + 1);

	if (object == SEMAPHORE) {
		sim->value++;
		sim->value_is_lock = thread->units;
		thread->units -= thread->units > 0;
		operate(sim, tid, "sem_post", object, false);
	} else if (thread->holds[object]) {
		thread->holds[object] = false;
		operate(sim, tid, object ? "mutex_unlock" : "rwlock_unlock", object, false);
	}
}

/* Its return is the only event, so it must be in the thread's life. */
static void enter_poll(struct simulation *sim, struct thread *thread)
{
	unsigned until = sim->step + (unsigned)g_rand_int_range(sim->rand, 1, 6);

	if (until >= thread->last_step)
		return;
	thread->in_poll_since_ns = sim->now_ns;
	thread->poll_until = until;
}

static void step_thread(struct simulation *sim, unsigned tid)
{
	struct thread *thread = &sim->threads[tid - 1];

	thread->site = 0x100 * tid + (unsigned)g_rand_int_range(sim->rand, 1, 5);
	if (thread->waits_for != NOTHING) {
		if (is_free(sim, thread->waits_for, thread->shared) && chance(sim, 2))
			acquire(sim, tid, thread->waits_for);
		return;
	}
	if (thread->in_poll_since_ns) {
		if (sim->step < thread->poll_until)
			return;
		add(sim, "io tid=%u call=poll for=%" PRId64, tid,
		    sim->now_ns - thread->in_poll_since_ns);
		thread->in_poll_since_ns = 0;
		return;
	}
	if (sim->has_samples && tid % 2 && chance(sim, 3)) {
		g_autofree char *at = g_strdup_printf("0x%x", thread->site);

		add(sim, "sample tid=%u path=%s", tid, at);
		charge_calls(sim, thread, at);
		charge(sim->expected, thread, at);
		return;
	}
	switch (g_rand_int_range(sim->rand, 0, 6)) {
	case 0:
		begin(sim, tid);
		break;
	case 1:
		enter_poll(sim, thread);
		break;
	case 2:
	case 3:
		release(sim, tid);
		break;
	default:
		break;
	}
}

/* The events of a run, after its threads.  A wait or call may go on at the thread's end. */
static char *simulate(struct simulation *sim)
{
	GString *text = g_string_new("source none\n");

	for (unsigned i = 0; i < N_THREADS; i++) {
		struct thread *thread = &sim->threads[i];

		thread->waits_for = NOTHING;
		thread->since = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
		thread->first_step =
		    chance(sim, 2) ? 0 : (unsigned)g_rand_int_range(sim->rand, 0, 50);
		thread->last_step =
		    chance(sim, 2) ? N_STEPS : (unsigned)g_rand_int_range(sim->rand, 60, N_STEPS);
	}
	sim->threads[0].first_step = 0;
	sim->threads[0].last_step = N_STEPS;
	for (unsigned i = 0; i < N_THREADS; i++)
		g_string_append_printf(text, "thread %u start=%u end=%u\n", i + 1,
				       sim->threads[i].first_step * STEP_NS,
				       sim->threads[i].last_step * STEP_NS);
	if (sim->has_samples)
		add(sim, "sample tid=1 path=0x101");
	for (sim->step = 1; sim->step <= N_STEPS; sim->step++) {
		sim->now_ns = sim->step * STEP_NS;
		share_step(sim);
		for (unsigned tid = 1; tid <= N_THREADS; tid++)
			if (lives(sim, &sim->threads[tid - 1]) &&
			    sim->step < sim->threads[tid - 1].last_step)
				step_thread(sim, tid);
	}
	for (unsigned i = 0; i < N_THREADS; i++) {
		charge_calls(sim, &sim->threads[i], NULL);
		charge(sim->expected, &sim->threads[i], "-");
		g_hash_table_unref(sim->threads[i].since);
	}
	g_string_append(text, sim->events->str);
	return g_string_free(text, FALSE);
}

/* --- the pass ------------------------------------------------------------------------------- */

static unsigned compare(struct simulation *sim, const struct pp_table *table, unsigned run)
{
	unsigned n_wrong = 0;
	GHashTableIter iter;
	gpointer key, value;

	for (guint i = 0; i < table->rows->len; i++) {
		const struct pp_cell *site = pp_table_cell(table, i, "site");

		expect(sim, pp_table_cell(table, i, "kind")->text, site ? site->text : "-",
		       -pp_table_cell(table, i, "wait_ns")->time_ns);
	}
	g_hash_table_iter_init(&iter, sim->expected);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		const int64_t *missing_ns = value;

		if (!*missing_ns)
			continue;
		printf("run %u: %s: %" PRId64 " ns missing\n", run, (char *)key, *missing_ns);
		n_wrong++;
	}
	return n_wrong;
}

static unsigned check(struct simulation *sim, const char *events, unsigned run)
{
	static const char *const names[] = {"blame"};
	g_autoptr(GHashTable) options = g_hash_table_new(g_str_hash, g_str_equal);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_pass_context context = {.namer = &namer, .options = options};
	struct pp_pass_set *passes;
	struct pp_text *text;
	unsigned n, n_wrong;

	g_hash_table_insert(options, "by", "suspect");
	if (pp_text_read(events, "random", 1, &text, &err)) {
		g_autofree char *what = pp_error_text(&err);

		printf("run %u: %s\n", run, what);
		return 1;
	}
	context.model = text->model;
	passes = pp_pass_set_new(&context, names, G_N_ELEMENTS(names));
	for (guint i = 0; i < text->events->len; i++)
		pp_pass_set_event(passes, &g_array_index(text->events, struct pp_event, i));
	pp_pass_set_finish(passes, text->model->end_ns);
	n_wrong = compare(sim, pp_pass_set_tables(passes, "blame", &n)[0], run);
	pp_pass_set_free(passes);
	pp_text_free(text);
	return n_wrong;
}

int main(void)
{
	for (unsigned run = 0; run < N_RUNS; run++) {
		struct simulation sim = {
		    .rand = g_rand_new_with_seed(run),
		    .events = g_string_new(NULL),
		    .has_samples = run % 2,
		    .expected = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
		};
		g_autofree char *events = simulate(&sim);
		unsigned n_wrong = check(&sim, events, run);

		g_hash_table_unref(sim.expected);
		g_string_free(sim.events, TRUE);
		g_rand_free(sim.rand);
		if (!n_wrong)
			continue;
		printf("%s", events);
		return 1;
	}
	printf("%d runs: the shares are those of the slow way\n", N_RUNS);
	return 0;
}
