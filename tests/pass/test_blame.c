/* SPDX-License-Identifier: MIT */
/*
 * Compares the pass `blame` with sums that are made the slow way.
 *
 * The rows are those of a simulation (blame_simulation.h).  Of arbitrary events, with operations
 * that contradict each other, the sum of all rows is that of all waits in `locks`.  In both, the
 * tree of `blame-tree` is made from the rows, and the nested rows of a holder add up to the time in
 * which it was blocked; the sections in `bottlenecks` have all waits for locks and semaphores.
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "blame_simulation.h"
#include "event_text.h"
#include "analysis/pass_set.h"
#include "analysis/select.h"

#define N_RUNS	    400
#define N_MANY_RUNS 40

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

static const char *text_at(const struct pp_table *table, unsigned row, const char *key)
{
	const struct pp_cell *cell = pp_table_cell(table, row, key);

	return cell ? cell->text : NULL;
}

static int64_t sum_of(const struct pp_table *table, const char *key)
{
	int64_t sum = 0;

	for (guint i = 0; i < table->rows->len; i++)
		sum += number(table, i, key);
	return sum;
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
			       want->runnable_ns == number(table, i, "runnable_ns") &&
			       want->sync_ns == number(table, i, "blocked_sync_ns")))) {
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

/* "kind site acquired" of a row, from these columns; without the call if it has none. */
static char *call_at(const struct pp_table *table, unsigned row, const char *object,
		     const char *kind, const char *site, const char *acquired)
{
	uint64_t lock = pp_table_cell(table, row, object)->count / 0x1000 - 1;
	const char *at = text_at(table, row, site), *since = text_at(table, row, acquired);

	return at ? g_strdup_printf("%" PRIu64 " %s %s %s", lock, kind, at, since)
		  : g_strdup_printf("%" PRIu64 " %s", lock, kind);
}

static unsigned compare_nested(const struct pp_table *table, GHashTable *expected, unsigned run)
{
	unsigned n_wrong = 0;

	for (guint i = 0; i < table->rows->len; i++) {
		g_autofree char *blamed = call_at(table, i, "object", "holder", "site", "acquired");
		g_autofree char *further =
		    pp_table_cell(table, i, "nested_object")
			? call_at(table, i, "nested_object", text_at(table, i, "nested_kind"),
				  "nested_site", "nested_acquired")
			: g_strdup(text_at(table, i, "nested_kind"));
		g_autofree char *key = g_strdup_printf("%s: %s", blamed, further);
		struct figures *want = g_hash_table_lookup(expected, key);
		int64_t ns = number(table, i, "nested_ns");

		if (want && want->wait_ns == ns) {
			want->wait_ns = 0;
			continue;
		}
		printf("run %u: %s: %" PRId64 ", expected %" PRId64 "\n", run, key, ns,
		       want ? want->wait_ns : 0);
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

/* --- the tree ------------------------------------------------------------------------------- */

static void add_to(GHashTable *sums, const char *path, int64_t ns)
{
	int64_t *sum = g_hash_table_lookup(sums, path);

	if (!sum) {
		sum = g_new0(int64_t, 1);
		g_hash_table_insert(sums, g_strdup(path), sum);
	}
	*sum += ns;
}

/* The functions of a row of `blame`, outermost first; the kind, if it has no call. */
static GPtrArray *names_of(const struct pp_table *table, unsigned row)
{
	const char *function = text_at(table, row, "function"), *site = text_at(table, row, "site");
	const char *path = text_at(table, row, "path");
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

	if (!function) {
		g_ptr_array_add(names, g_strdup_printf("[%s]", text_at(table, row, "kind")));
		return names;
	}
	if (path) {
		g_auto(GStrv) functions = g_strsplit(path, " < ", -1);

		for (guint i = g_strv_length(functions); i-- > 0;)
			g_ptr_array_add(names, g_strdup(functions[i]));
	} else {
		g_ptr_array_add(names, g_strdup("[no call path]"));
		if (site)
			g_ptr_array_add(names, g_strdup(site));
	}
	g_ptr_array_add(names, g_strdup(function));
	return names;
}

/* Each node of the tree has the sum of the rows of `blame` whose paths begin with its path. */
static unsigned compare_tree(const struct pp_table *blame, const struct pp_table *tree,
			     unsigned run)
{
	g_autoptr(GHashTable) sums = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	unsigned n_wrong = 0;

	for (guint i = 0; i < blame->rows->len; i++) {
		g_autoptr(GPtrArray) names = names_of(blame, i);
		g_autoptr(GString) path = g_string_new(NULL);

		for (guint j = 0; j < names->len; j++) {
			g_string_append_printf(path, "%s%s", j ? " > " : "",
					       (const char *)names->pdata[j]);
			add_to(sums, path->str, number(blame, i, "wait_ns"));
		}
	}
	for (guint i = 0; i < tree->rows->len; i++) {
		const char *path = text_at(tree, i, "path");
		const int64_t *sum = g_hash_table_lookup(sums, path);

		if (sum && *sum == number(tree, i, "wait_ns"))
			continue;
		printf("run %u: %s: %" PRId64 " ns, expected %" PRId64 "\n", run, path,
		       number(tree, i, "wait_ns"), sum ? *sum : 0);
		n_wrong++;
	}
	if (tree->rows->len != g_hash_table_size(sums))
		printf("run %u: %u nodes, expected %u\n", run, tree->rows->len,
		       g_hash_table_size(sums));
	return n_wrong + (tree->rows->len != g_hash_table_size(sums));
}

/* True if the texts are equal, or both are missing. */
static bool is_same(const struct pp_table *a, unsigned i, const struct pp_table *b, unsigned k,
		    const char *key)
{
	return g_strcmp0(text_at(a, i, key), text_at(b, k, key)) == 0;
}

/* The sum charged one step further is the time in which the thread to blame was blocked. */
static unsigned check_nested(const struct pp_table *blame, const struct pp_table *nested,
			     unsigned run)
{
	unsigned n_wrong = 0;
	int64_t blocked_ns = 0;

	for (guint i = 0; i < blame->rows->len; i++) {
		int64_t ns = g_strcmp0(text_at(blame, i, "kind"), "holder")
				 ? 0
				 : number(blame, i, "blocked_sync_ns");
		int64_t left_ns = ns;

		blocked_ns += ns;
		for (guint k = 0; ns && k < nested->rows->len; k++)
			if (is_same(blame, i, nested, k, "name") &&
			    is_same(blame, i, nested, k, "function") &&
			    is_same(blame, i, nested, k, "site") &&
			    is_same(blame, i, nested, k, "acquired") &&
			    is_same(blame, i, nested, k, "path"))
				left_ns -= number(nested, k, "nested_ns");
		if (!left_ns)
			continue;
		printf("run %u: %s, held since %s: blocked %" PRId64
		       " ns, charged further: %" PRId64 "\n",
		       run, text_at(blame, i, "site"), text_at(blame, i, "acquired"), ns,
		       ns - left_ns);
		n_wrong++;
	}
	if (blocked_ns != sum_of(nested, "nested_ns")) {
		printf("run %u: holders blocked %" PRId64 " ns, charged further %" PRId64 "\n", run,
		       blocked_ns, sum_of(nested, "nested_ns"));
		n_wrong++;
	}
	return n_wrong;
}

/* In `bottlenecks`, each wait for a lock or a semaphore is for a section, or for nobody. */
static unsigned check_sections(const struct pp_table *locks, const struct pp_table *sections,
			       unsigned run)
{
	int64_t waited_ns = 0, charged_ns = 0;

	for (guint i = 0; i < locks->rows->len; i++)
		if (strstr("mutex rwlock spin sem", text_at(locks, i, "type")))
			waited_ns += number(locks, i, "wait_ns");
	for (guint i = 0; i < sections->rows->len; i++)
		if (strcmp(text_at(sections, i, "type"), "barrier") != 0)
			charged_ns += number(sections, i, "aplt_ns") +
				      number(sections, i, "nobody_ns") -
				      number(sections, i, "unended_ns");
	if (charged_ns == waited_ns)
		return 0;
	printf("run %u: sections cost %" PRId64 " ns, waits are %" PRId64 "\n", run, charged_ns,
	       waited_ns);
	return 1;
}

/* expected: NULL if only the sums are compared. */
static unsigned check(const char *events, const struct blame_simulation *expected, unsigned run,
		      const char *range)
{
	static const char *const names[] = {"blame", "locks", "blame-tree", "bottlenecks"};
	struct pp_selection *selection = pp_selection_new();
	struct pp_error err = PP_ERROR_INIT;
	struct pp_pass_set *passes;
	struct pp_table **tables;
	struct pp_text *text;
	unsigned n, n_wrong = 0;
	int64_t blamed_ns, by_waiter_ns, by_suspect_ns, waited_ns;

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
	by_waiter_ns = sum_of(tables[2], "wait_ns");
	by_suspect_ns = sum_of(tables[3], "wait_ns");
	if (expected)
		n_wrong += compare(tables[0], expected->expected, run) +
			   count_missing(expected->expected, run) +
			   compare_nested(tables[1], expected->nested, run) +
			   count_missing(expected->nested, run);
	n_wrong += check_nested(tables[0], tables[1], run);
	n_wrong += compare_tree(tables[0], pp_pass_set_tables(passes, "blame-tree", &n)[0], run);
	waited_ns = sum_of(pp_pass_set_tables(passes, "locks", &n)[0], "wait_ns");
	n_wrong += check_sections(pp_pass_set_tables(passes, "locks", &n)[0],
				  pp_pass_set_tables(passes, "bottlenecks", &n)[1], run);
	if (blamed_ns != waited_ns || by_waiter_ns != waited_ns || by_suspect_ns != waited_ns) {
		printf("run %u, %s: %" PRId64 " ns by cause, %" PRId64 " by waiter, %" PRId64
		       " by suspect, waits %" PRId64 "\n",
		       run, range ? range : "all", blamed_ns, by_waiter_ns, by_suspect_ns,
		       waited_ns);
		n_wrong++;
	}
	pp_pass_set_free(passes);
	pp_text_free(text);
	pp_selection_free(selection);
	return n_wrong;
}

static unsigned check_simulation(unsigned run, bool many)
{
	struct blame_simulation sim = blame_simulate(run, many);
	unsigned n_wrong = check(sim.events->str, &sim, run, NULL);

	n_wrong += check(sim.events->str, NULL, run, many ? "3s~15s" : "700ns~2500ns");
	if (n_wrong)
		printf("%s", sim.events->str);
	blame_simulation_done(&sim);
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

static unsigned check_arbitrary(unsigned run, unsigned n_threads)
{
	GRand *rand = g_rand_new_with_seed(run);
	bool kernel = g_rand_boolean(rand);
	GString *events = g_string_new(kernel ? "source kernel\n" : "source none\n");
	int64_t now_ns = 0;
	unsigned n_wrong;

	for (unsigned tid = 1; tid <= n_threads; tid++)
		g_string_append_printf(events, "thread %u start=0 end=9000\n", tid);
	for (unsigned i = 0; i < 150; i++) {
		unsigned tid = (unsigned)g_rand_int_range(rand, 1, (int)n_threads + 1);
		unsigned at = (unsigned)g_rand_int_range(rand, 0, G_N_ELEMENTS(operations));
		const char *op = operations[at].op;
		bool begins = blocks(op) && g_rand_boolean(rand);
		unsigned result = begins || g_rand_int_range(rand, 0, 8) ? 0 : BLAME_TIMED_OUT;

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

/* --- a barrier of many threads --------------------------------------------------------------- */

#define N_AT_BARRIER 2000u
#define N_CALLS	     3u /* thread i arrives at call i % N_CALLS */

/* When the i-th thread arrives: later ones come after longer times. */
static int64_t arrival_ns(unsigned i)
{
	return 1000 + (int64_t)i * (i + 1) / 2;
}

static char *barrier_events(void)
{
	GString *events = g_string_new("source none\n");
	int64_t last_ns = arrival_ns(N_AT_BARRIER - 1);

	for (unsigned i = 0; i < N_AT_BARRIER; i++)
		g_string_append_printf(events, "thread %u start=0 end=%" PRId64 "\n", i + 1,
				       last_ns + 9000);
	for (unsigned i = 0; i + 1 < N_AT_BARRIER; i++)
		g_string_append_printf(
		    events, "%" PRId64 " barrier_wait_begin tid=%u object=0x1000 site=0x%x\n",
		    arrival_ns(i), i + 1, 0x100 + i % N_CALLS);
	for (unsigned i = N_AT_BARRIER; i-- > 0;)
		g_string_append_printf(
		    events, "%" PRId64 " barrier_wait tid=%u object=0x1000 site=0x%x\n",
		    last_ns + (i + 1 < N_AT_BARRIER ? 5 : 0), i + 1, 0x100 + i % N_CALLS);
	return g_string_free(events, FALSE);
}

/* Bytes in use; 0 under a sanitizer. */
static size_t heap_bytes(void)
{
	return mallinfo2().uordblks;
}

/* Each arrival is charged to by all threads that had arrived, for the time since the one before. */
static unsigned compare_barrier(const struct pp_table *table)
{
	int64_t wait_ns[N_CALLS] = {0}, handed_over_ns = 5 * (N_AT_BARRIER - 1);
	unsigned n_wrong = 0;

	for (unsigned i = 1; i < N_AT_BARRIER; i++)
		wait_ns[i % N_CALLS] += i * (arrival_ns(i) - arrival_ns(i - 1));
	for (guint i = 0; i < table->rows->len; i++) {
		const char *site = text_at(table, i, "site");
		uint64_t call = site ? g_ascii_strtoull(site, NULL, 16) - 0x100 : 0;
		int64_t expected_ns = site ? wait_ns[call] : handed_over_ns;
		/* Those before the last arrival there. */
		uint64_t n = N_AT_BARRIER - 1, last = n;

		while (site && last % N_CALLS != call)
			last--;
		if (number(table, i, "wait_ns") == expected_ns &&
		    pp_table_cell(table, i, "waits")->count == MIN(n, last))
			continue;
		printf("barrier: %s: %" PRId64 " ns in %" PRIu64 " waits, expected %" PRId64
		       " in %" PRIu64 "\n",
		       site ?: "hand-over", number(table, i, "wait_ns"),
		       pp_table_cell(table, i, "waits")->count, expected_ns, MIN(n, last));
		n_wrong++;
	}
	return n_wrong + (table->rows->len != N_CALLS + 1);
}

/* The memory for the charges grows with the number of threads, not of pairs of them. */
static unsigned check_barrier(void)
{
	static const char *const names[] = {"blame"};
	g_autofree char *events = barrier_events();
	struct pp_error err = PP_ERROR_INIT;
	struct pp_text *text;
	struct pp_pass_context context;
	struct pp_pass_set *passes;
	size_t before, bytes = 0;
	unsigned n, n_wrong;

	if (pp_text_read(events, "barrier", 1, &text, &err))
		return 1;
	context = (struct pp_pass_context){.model = text->model, .namer = &namer};
	passes = pp_pass_set_new(&context, names, 1);
	before = heap_bytes();
	for (guint i = 0; i < text->events->len; i++) {
		if (i == N_AT_BARRIER)
			bytes = heap_bytes() - before;
		pp_pass_set_event(passes, &g_array_index(text->events, struct pp_event, i));
	}
	pp_pass_set_finish(passes, text->model->end_ns);
	n_wrong = compare_barrier(pp_pass_set_tables(passes, "blame", &n)[0]);
	if (bytes > N_AT_BARRIER * 10000) {
		printf("barrier: %zu bytes for %u threads\n", bytes, N_AT_BARRIER);
		n_wrong++;
	}
	pp_pass_set_free(passes);
	pp_text_free(text);
	return n_wrong;
}

int main(void)
{
	if (check_barrier())
		return 1;
	for (unsigned run = 0; run < N_RUNS; run++)
		if (check_simulation(run, false) || check_arbitrary(run, 4))
			return 1;
	for (unsigned run = 0; run < N_MANY_RUNS; run++)
		if (check_simulation(run, true) || check_arbitrary(run, 20))
			return 1;
	printf("%d runs: the rows are those of the slow way, and the sums those of the waits\n",
	       N_RUNS + N_MANY_RUNS);
	return 0;
}
