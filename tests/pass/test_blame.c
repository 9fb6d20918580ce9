/* SPDX-License-Identifier: MIT */
/*
 * Compares the pass `blame` with sums that are made the slow way.
 *
 * A simulation of threads and locks goes on in steps, and charges each step of each waiting thread
 * to the threads that hold the lock then, in equal shares.  Then the same is asked of arbitrary
 * events, with operations that contradict each other: the sum of all rows is that of all waits in
 * `locks`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "event_text.h"
#include "analysis/pass_set.h"
#include "analysis/select.h"

#define N_RUNS	  400
#define N_THREADS 4
#define N_LOCKS	  3 /* 0 is a read-write lock, the others are mutexes */
#define N_STEPS	  120
#define STEP_NS	  60 /* can be divided by each number of readers */
#define TIMED_OUT 110

static char *name_address(void *data, const struct pp_process *process, uint64_t address)
{
	(void)data;
	(void)process;
	return g_strdup_printf("0x%" PRIx64, address);
}

static const struct pp_namer namer = {.site = name_address, .function = name_address};

static int64_t number(const struct pp_table *table, unsigned row, const char *key)
{
	const struct pp_cell *cell = pp_table_cell(table, row, key);

	return cell ? cell->time_ns : 0;
}

static int64_t sum_of(const struct pp_table *table, const char *key)
{
	int64_t sum = 0;

	for (guint i = 0; i < table->rows->len; i++)
		sum += number(table, i, key);
	return sum;
}

/* --- the simulation ------------------------------------------------------------------------- */

struct figures {
	int64_t wait_ns, running_ns, runnable_ns;
};

struct hold {
	bool held, shared;
	unsigned acquired, released; /* call sites */
};

struct thread {
	bool runs;
	int waits_for; /* a lock; -1: none */
	bool shared, timed;
	unsigned site;
	struct hold holds[N_LOCKS];
};

struct simulation {
	GRand *rand;
	GString *events;
	int64_t now_ns;
	struct thread threads[N_THREADS];
	GHashTable *expected; /* "lock kind site acquired" -> struct figures * */
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

	for (unsigned i = 0; i < N_THREADS; i++)
		n += sim->threads[i].holds[lock].held;
	return n;
}

static bool is_free(const struct simulation *sim, int lock, bool shared)
{
	for (unsigned i = 0; i < N_THREADS; i++) {
		const struct hold *hold = &sim->threads[i].holds[lock];

		if (hold->held && !(shared && hold->shared))
			return false;
	}
	return true;
}

static struct figures *expected_at(struct simulation *sim, const char *key)
{
	struct figures *figures = g_hash_table_lookup(sim->expected, key);

	if (!figures) {
		figures = g_new0(struct figures, 1);
		g_hash_table_insert(sim->expected, g_strdup(key), figures);
	}
	return figures;
}

/* Charges one step of a wait for the lock. */
static void charge_step(struct simulation *sim, int lock)
{
	unsigned n = n_holders(sim, lock);
	g_autofree char *hand_over = g_strdup_printf("%d hand-over", lock);

	if (!n) {
		expected_at(sim, hand_over)->wait_ns += STEP_NS;
		return;
	}
	for (unsigned i = 0; i < N_THREADS; i++) {
		const struct thread *thread = &sim->threads[i];
		const struct hold *hold = &thread->holds[lock];
		g_autofree char *key =
		    g_strdup_printf("%d holder 0x%x 0x%x", lock, hold->released, hold->acquired);
		struct figures *figures;

		if (!hold->held)
			continue;
		figures = expected_at(sim, key);
		figures->wait_ns += STEP_NS / n;
		*(thread->runs ? &figures->running_ns : &figures->runnable_ns) += STEP_NS / n;
	}
}

static const char *op_of(int lock, const struct thread *thread)
{
	if (lock > 0)
		return thread->timed ? "mutex_timedlock" : "mutex_lock";
	if (thread->shared)
		return thread->timed ? "rwlock_timedrdlock" : "rwlock_rdlock";
	return thread->timed ? "rwlock_timedwrlock" : "rwlock_wrlock";
}

static void end_operation(struct simulation *sim, unsigned tid, int lock, unsigned result)
{
	const struct thread *thread = &sim->threads[tid - 1];

	add(sim, "%s tid=%u object=0x%x site=0x%x result=%u", op_of(lock, thread), tid,
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
	thread->shared = !lock && chance(sim, 2);
	thread->timed = chance(sim, 4);
	thread->site = 0x100 * tid + (unsigned)g_rand_int_range(sim->rand, 1, 4);
	if (is_free(sim, lock, thread->shared)) {
		acquire(sim, tid, lock);
		return;
	}
	thread->waits_for = lock;
	add(sim, "%s_begin tid=%u object=0x%x site=0x%x", op_of(lock, thread), tid,
	    0x1000 * (lock + 1), thread->site);
}

static void release(struct simulation *sim, unsigned tid, int lock)
{
	struct hold *hold = &sim->threads[tid - 1].holds[lock];

	hold->held = false;
	add(sim, "%s tid=%u object=0x%x site=0x%x", lock ? "mutex_unlock" : "rwlock_unlock", tid,
	    0x1000 * (lock + 1), hold->released);
}

/* At the end, threads only go on until all waits have ended. */
static void step_thread(struct simulation *sim, unsigned tid, bool at_end)
{
	struct thread *thread = &sim->threads[tid - 1];
	int lock = thread->waits_for;

	if (chance(sim, 5) && !at_end) {
		add(sim,
		    thread->runs ? "switch prev=%u next=0 state=R cpu=%u"
				 : "switch prev=0 next=%u cpu=%u",
		    tid, tid);
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
			end_operation(sim, tid, lock, TIMED_OUT);
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
	for (unsigned i = 0; i < N_THREADS; i++)
		if (sim->threads[i].waits_for >= 0 || highest(&sim->threads[i]) >= 0)
			return false;
	return true;
}

static void simulate(struct simulation *sim)
{
	g_string_append(sim->events, "source kernel\n");
	for (unsigned tid = 1; tid <= N_THREADS; tid++)
		g_string_append_printf(sim->events, "thread %u start=0 end=1000000\n", tid);
	for (unsigned tid = 1; tid <= N_THREADS; tid++) {
		sim->threads[tid - 1] = (struct thread){.runs = true, .waits_for = -1};
		add(sim, "switch prev=0 next=%u cpu=%u", tid, tid);
	}
	for (unsigned step = 0; step < N_STEPS || !is_over(sim); step++) {
		sim->now_ns += STEP_NS;
		for (unsigned i = 0; i < N_THREADS; i++)
			if (sim->threads[i].waits_for >= 0)
				charge_step(sim, sim->threads[i].waits_for);
		for (unsigned tid = 1; tid <= N_THREADS; tid++)
			step_thread(sim, tid, step >= N_STEPS);
	}
}

/* --- the pass ------------------------------------------------------------------------------- */

static unsigned compare(const struct pp_table *table, GHashTable *expected, unsigned run)
{
	unsigned n_wrong = 0;

	for (guint i = 0; i < table->rows->len; i++) {
		uint64_t lock = pp_table_cell(table, i, "object")->count / 0x1000 - 1;
		const char *kind = pp_table_cell(table, i, "kind")->text;
		const struct pp_cell *site = pp_table_cell(table, i, "site");
		g_autofree char *key =
		    !site ? g_strdup_printf("%" PRIu64 " %s", lock, kind)
			  : g_strdup_printf("%" PRIu64 " %s %s %s", lock, kind, site->text,
					    pp_table_cell(table, i, "acquired")->text);
		struct figures *want = g_hash_table_lookup(expected, key);
		int64_t wait_ns = number(table, i, "wait_ns");

		if (want && want->wait_ns == wait_ns &&
		    (!site || (want->running_ns == number(table, i, "running_ns") &&
			       want->runnable_ns == number(table, i, "runnable_ns")))) {
			want->wait_ns = 0;
			continue;
		}
		printf("run %u: %s: %" PRId64 ", running %" PRId64 "; expected %" PRId64
		       ", %" PRId64 "\n",
		       run, key, wait_ns, number(table, i, "running_ns"), want ? want->wait_ns : 0,
		       want ? want->running_ns : 0);
		n_wrong++;
	}
	return n_wrong;
}

static unsigned count_missing(GHashTable *expected, unsigned run)
{
	GHashTableIter iter;
	gpointer key, value;
	unsigned n_wrong = 0;

	g_hash_table_iter_init(&iter, expected);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		const struct figures *want = value;

		if (!want->wait_ns)
			continue;
		printf("run %u: %s: expected %" PRId64 "\n", run, (char *)key, want->wait_ns);
		n_wrong++;
	}
	return n_wrong;
}

/* expected: NULL if only the sums are compared. */
static unsigned check(const char *events, GHashTable *expected, unsigned run, const char *range)
{
	static const char *const names[] = {"blame", "locks"};
	struct pp_selection *selection = pp_selection_new();
	struct pp_error err = PP_ERROR_INIT;
	struct pp_pass_set *passes;
	struct pp_table **tables;
	struct pp_text *text;
	unsigned n, n_wrong = 0;
	int64_t blamed_ns, by_waiter_ns, waited_ns;

	if (pp_text_read(events, "random", 1, &text, &err)) {
		g_autofree char *what = pp_error_text(&err);

		printf("run %u: %s\n", run, what);
		pp_selection_free(selection);
		return 1;
	}
	selection->model = text->model;
	if (range)
		pp_select_time(selection, range);
	{
		struct pp_pass_context context = {.model = text->model,
						  .namer = &namer,
						  .has_kernel = text->has_kernel,
						  .has_switch_pairs = text->has_switch_pairs,
						  .has_wakings = text->has_wakings,
						  .selection = range ? selection : NULL};

		passes = pp_pass_set_new(&context, names, G_N_ELEMENTS(names));
		for (guint i = 0; i < text->events->len; i++)
			pp_pass_set_event(passes, &g_array_index(text->events, struct pp_event, i));
		pp_pass_set_finish(passes, text->model->end_ns);
	}
	tables = pp_pass_set_tables(passes, "blame", &n);
	blamed_ns = sum_of(tables[0], "wait_ns");
	by_waiter_ns = sum_of(tables[1], "wait_ns");
	if (expected)
		n_wrong += compare(tables[0], expected, run) + count_missing(expected, run);
	waited_ns = sum_of(pp_pass_set_tables(passes, "locks", &n)[0], "wait_ns");
	if (blamed_ns != waited_ns || by_waiter_ns != waited_ns) {
		printf("run %u, %s: %" PRId64 " ns by cause, %" PRId64 " by waiter, waits %" PRId64
		       "\n",
		       run, range ? range : "all", blamed_ns, by_waiter_ns, waited_ns);
		n_wrong++;
	}
	pp_pass_set_free(passes);
	pp_text_free(text);
	pp_selection_free(selection);
	return n_wrong;
}

static unsigned check_simulation(unsigned run)
{
	struct simulation sim = {
	    .rand = g_rand_new_with_seed(run),
	    .events = g_string_new(NULL),
	    .expected = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
	};
	unsigned n_wrong;

	simulate(&sim);
	n_wrong = check(sim.events->str, sim.expected, run, NULL);
	n_wrong += check(sim.events->str, NULL, run, "700ns~2500ns");
	if (n_wrong)
		printf("%s", sim.events->str);
	g_hash_table_unref(sim.expected);
	g_string_free(sim.events, TRUE);
	g_rand_free(sim.rand);
	return n_wrong;
}

/* --- arbitrary events ------------------------------------------------------------------------ */

static const struct {
	const char *op;
	unsigned object;
	const char *more;
} operations[] = {
    {"mutex_lock", 1, ""},
    {"mutex_timedlock", 1, ""},
    {"mutex_trylock", 1, ""},
    {"mutex_unlock", 1, ""},
    {"mutex_lock", 2, ""},
    {"mutex_unlock", 2, ""},
    {"mutex_destroy", 2, ""},
    {"mutex_init", 2, ""},
    {"cond_wait", 3, " mutex=0x1000"},
    {"cond_timedwait", 3, " mutex=0x1000"},
    {"cond_signal", 3, ""},
    {"cond_broadcast", 3, ""},
    {"cond_destroy", 3, ""},
    {"sem_wait", 4, ""},
    {"sem_trywait", 4, ""},
    {"sem_post", 4, ""},
    {"barrier_wait", 5, ""},
    {"rwlock_rdlock", 6, ""},
    {"rwlock_wrlock", 6, ""},
    {"rwlock_unlock", 6, ""},
    {"spin_lock", 7, ""},
    {"spin_unlock", 7, ""},
    {"once", 8, ""},
    {"thread_join", 9, ""},
    {"thread_exit", 9, ""},
};

static bool blocks(const char *op)
{
	return !strstr(op, "try") && !strstr(op, "unlock") && !strstr(op, "signal") &&
	       !strstr(op, "broadcast") && !strstr(op, "post") && !strstr(op, "init") &&
	       !strstr(op, "destroy") && !strstr(op, "exit");
}

static unsigned check_arbitrary(unsigned run)
{
	GRand *rand = g_rand_new_with_seed(run);
	bool kernel = g_rand_boolean(rand);
	GString *events = g_string_new(kernel ? "source kernel\n" : "source none\n");
	int64_t now_ns = 0;
	unsigned n_wrong;

	for (unsigned tid = 1; tid <= N_THREADS; tid++)
		g_string_append_printf(events, "thread %u start=0 end=9000\n", tid);
	for (unsigned i = 0; i < 150; i++) {
		unsigned tid = (unsigned)g_rand_int_range(rand, 1, N_THREADS + 1);
		unsigned at = (unsigned)g_rand_int_range(rand, 0, G_N_ELEMENTS(operations));
		const char *op = operations[at].op;
		bool begins = blocks(op) && g_rand_boolean(rand);
		unsigned result = begins || g_rand_int_range(rand, 0, 8) ? 0 : TIMED_OUT;

		now_ns += g_rand_int_range(rand, 0, 40);
		if (kernel && g_rand_int_range(rand, 0, 3) == 0) {
			g_string_append_printf(events,
					       g_rand_boolean(rand)
						   ? "%" PRId64
						     " switch prev=%u next=0 state=S cpu=%u\n"
						   : "%" PRId64 " switch prev=0 next=%u cpu=%u\n",
					       now_ns, tid, tid);
			continue;
		}
		if (g_rand_int_range(rand, 0, 60) == 0) {
			g_string_append_printf(events, "%" PRId64 " lost count=3 tid=%u\n", now_ns,
					       tid);
			continue;
		}
		g_string_append_printf(
		    events, "%" PRId64 " %s%s tid=%u object=0x%x site=0x%x%s", now_ns, op,
		    begins ? "_begin" : "", tid, 0x1000 * operations[at].object,
		    0x100 * tid + (unsigned)g_rand_int_range(rand, 1, 4), operations[at].more);
		if (begins && g_rand_boolean(rand))
			g_string_append_printf(events, " holder=%d", g_rand_int_range(rand, 1, 7));
		if (!begins)
			g_string_append_printf(events, " result=%u", result);
		g_string_append_c(events, '\n');
	}
	n_wrong = check(events->str, NULL, run, NULL);
	n_wrong += check(events->str, NULL, run, "300ns~1500ns");
	if (n_wrong)
		printf("%s", events->str);
	g_string_free(events, TRUE);
	g_rand_free(rand);
	return n_wrong;
}

int main(void)
{
	for (unsigned run = 0; run < N_RUNS; run++)
		if (check_simulation(run) || check_arbitrary(run))
			return 1;
	printf("%d runs: the rows are those of the slow way, and the sums those of the waits\n",
	       N_RUNS);
	return 0;
}
