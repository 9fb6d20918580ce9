/* SPDX-License-Identifier: MIT */
/*
 * Classification and the search of rule 1 (postproc/analysis/ulcp): Figure 7 of paper 003 and other
 * cases by hand, and random sections of several locks, whose memory is freed now and then, against
 * a direct implementation that compares each section with all later ones.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "analysis/ulcp/classify.h"
#include "analysis/ulcp/search.h"

#define LINE 64u

static unsigned n_failed;
static struct pp_access_sets *sets;

static void expect(const char *what, bool is_true)
{
	if (is_true)
		return;
	printf("%s\n", what);
	n_failed++;
}

/* A set of one line. */
static struct pp_access_set *line_set(uint64_t read, uint64_t written, uint64_t changed)
{
	struct pp_access_line line = {
	    .address = 0x1000, .read = read, .written = written, .changed = changed};

	return pp_access_set_get(sets, &line, 1);
}

/* --- classes ---------------------------------------------------------------------------------- */

/* The class of two sections that write and read the first bytes of a line. */
static enum pp_ulcp_class class_of(const uint64_t a[3], const uint64_t b[3], bool first_polls,
				   bool second_polls)
{
	struct pp_access_set *x = line_set(a[0], a[1], a[2]), *y = line_set(b[0], b[1], b[2]);
	struct pp_ulcp_conflict conflict = pp_ulcp_compare(x, y);
	enum pp_ulcp_class class = PP_ULCP_DISJOINT_WRITE;

	if (conflict.conflicts)
		class = pp_ulcp_class_of_conflict(&conflict, first_polls, second_polls);
	pp_access_set_unref(x);
	pp_access_set_unref(y);
	return class;
}

static void test_classes(void)
{
	static const struct {
		const char *name;
		uint64_t a[3], b[3]; /* read, written, changed */
		bool first_polls, second_polls;
		enum pp_ulcp_class class;
	} cases[] = {
	    {"other bytes", {3, 3, 3}, {12, 12, 12}, 0, 0, PP_ULCP_DISJOINT_WRITE},
	    {"both redundant", {0, 1, 0}, {0, 1, 0}, 0, 0, PP_ULCP_BENIGN},
	    {"a redundant write is read", {0, 1, 0}, {1, 0, 0}, 0, 0, PP_ULCP_BENIGN},
	    {"one changes, one is redundant", {0, 1, 1}, {0, 1, 0}, 0, 0, PP_ULCP_TRUE},
	    {"both assign", {0, 1, 1}, {0, 1, 1}, 0, 0, PP_ULCP_TRUE},
	    {"assigned, read", {0, 1, 1}, {1, 0, 0}, 0, 0, PP_ULCP_TRUE},
	    {"both add", {1, 1, 1}, {1, 1, 1}, 0, 0, PP_ULCP_UNDECIDED},
	    {"both add, one adds nothing", {1, 1, 1}, {1, 1, 0}, 0, 0, PP_ULCP_UNDECIDED},
	    {"one adds, one assigns", {1, 1, 1}, {0, 1, 1}, 0, 0, PP_ULCP_TRUE},
	    {"polled, set", {1, 0, 0}, {0, 1, 1}, 1, 0, PP_ULCP_UNDECIDED},
	    {"set, polled", {0, 1, 1}, {1, 0, 0}, 0, 1, PP_ULCP_UNDECIDED},
	    {"the writer repeats itself", {0, 1, 1}, {1, 0, 0}, 1, 0, PP_ULCP_TRUE},
	    {"an update and an assignment", {1, 3, 3}, {1, 3, 3}, 0, 0, PP_ULCP_TRUE},
	    {"a redundant byte beside an update", {1, 3, 1}, {1, 3, 1}, 0, 0, PP_ULCP_UNDECIDED},
	    {"changed without a write", {1, 0, 1}, {0, 1, 0}, 0, 0, PP_ULCP_BENIGN},
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++)
		expect(cases[i].name, class_of(cases[i].a, cases[i].b, cases[i].first_polls,
					       cases[i].second_polls) == cases[i].class);
}

static void test_uses(void)
{
	static const enum pp_ulcp_class wanted[3][3] = {
	    {PP_ULCP_NULL_LOCK, PP_ULCP_NULL_LOCK, PP_ULCP_NULL_LOCK},
	    {PP_ULCP_NULL_LOCK, PP_ULCP_READ_READ, PP_ULCP_DISJOINT_WRITE},
	    {PP_ULCP_NULL_LOCK, PP_ULCP_DISJOINT_WRITE, PP_ULCP_DISJOINT_WRITE}};

	for (unsigned a = 0; a < 3; a++)
		for (unsigned b = 0; b < 3; b++)
			expect("uses", pp_ulcp_class_of_uses(a, b) == wanted[a][b]);
}

/* --- edges ------------------------------------------------------------------------------------ */

static void note_edges(void *data, const uint64_t *sources, size_t n, uint64_t target)
{
	GString *text = data;

	for (size_t i = 0; i < n; i++)
		g_string_append_printf(text, "%" PRIu64 ">%" PRIu64 "\n", sources[i], target);
}

/* Figure 7: R1 (T1), W1 (T3), W1 (T2), W1 (T3), and R2 in T1 and T2 that conflict with nothing. */
static void test_figure_7(void)
{
	struct pp_access_set *r1 = line_set(1, 0, 0), *w1 = line_set(0, 1, 1);
	struct pp_access_set *r2 = line_set(2, 0, 0);
	g_autoptr(GString) edges = g_string_new(NULL);
	const struct pp_ulcp_search_listener listener = {.data = edges, .edges = note_edges};
	struct pp_ulcp_search *search = pp_ulcp_search_new(&listener);
	struct pp_ulcp_lock *lock = pp_ulcp_lock_new(search);

	pp_ulcp_search_add(lock, 1, 1, 0, r1);
	pp_ulcp_search_add(lock, 2, 2, 0, r2);
	pp_ulcp_search_add(lock, 3, 3, 0, w1);
	pp_ulcp_search_add(lock, 2, 4, 0, w1);
	pp_ulcp_search_add(lock, 1, 5, 0, r2);
	pp_ulcp_search_add(lock, 3, 6, 0, w1);
	expect("Figure 7", strcmp(edges->str, "1>3\n3>4\n1>4\n4>6\n") == 0);
	pp_ulcp_lock_free(lock);
	pp_ulcp_search_free(search);
	pp_access_set_unref(r1);
	pp_access_set_unref(r2);
	pp_access_set_unref(w1);
}

/* --- random sections -------------------------------------------------------------------------- */

#define N_RUNS	   1000u
#define MAX_BYTES  256u /* of memory: 4 lines */
#define MAX_COUNT  300u
#define BASE	   0x10000u
#define MANY_KINDS 1500u /* sections of one line, each with other masks */

enum { READ = 1, WRITTEN = 2, CHANGED = 4 };

struct section {
	unsigned lock, thread;
	bool is_reader;
	uint64_t tag;
	uint8_t access[MAX_BYTES];
	unsigned life[MAX_BYTES]; /* of the bytes that are accessed until the end */
	uint8_t ended[MAX_BYTES]; /* accessed in a life that ended within the section */
	unsigned ended_life[MAX_BYTES];
};

struct run {
	GRand *rand;
	unsigned n_bytes, n_threads, n_locks, n;
	unsigned life[MAX_BYTES];
	struct section *sections;
	GHashTable *edges;  /* of source << 32 | target, -> number */
	GHashTable *counts; /* of tag << 32 | target, -> number */
};

static unsigned any(struct run *run, unsigned n)
{
	return (unsigned)g_rand_int_range(run->rand, 0, (gint32)n);
}

static void count(GHashTable *table, uint64_t key, uint64_t n)
{
	uint64_t *known = g_hash_table_lookup(table, &key);

	if (known)
		*known += n;
	else
		g_hash_table_insert(table, g_memdup2(&key, sizeof(key)), g_memdup2(&n, sizeof(n)));
}

static void take_edges(void *data, const uint64_t *sources, size_t n, uint64_t target)
{
	struct run *run = data;

	for (size_t i = 0; i < n; i++)
		count(run->edges, sources[i] << 32 | target, 1);
}

static void take_contended(void *data, uint64_t tag, uint64_t n, uint64_t target)
{
	struct run *run = data;

	count(run->counts, tag << 32 | target, n);
}

static struct pp_access_set *set_of(const uint8_t *access, unsigned n_bytes)
{
	struct pp_access_line lines[MAX_BYTES / LINE] = {{0}};

	for (unsigned i = 0; i < n_bytes; i++) {
		struct pp_access_line *line = &lines[i / LINE];
		uint64_t bit = UINT64_C(1) << i % LINE;

		line->address = BASE + i / LINE * LINE;
		line->read |= access[i] & READ ? bit : 0;
		line->written |= access[i] & WRITTEN ? bit : 0;
		line->changed |= access[i] & CHANGED ? bit : 0;
	}
	return pp_access_set_get(sets, lines, MAX_BYTES / LINE);
}

/* Few forms of accesses, so that sets are repeated; or any bytes. */
static void fill(struct run *run, struct section *section, bool any_bytes)
{
	static const uint8_t kinds[] = {READ, READ | WRITTEN | CHANGED, WRITTEN | CHANGED, WRITTEN,
					READ | WRITTEN};
	unsigned n = 1 + any(run, 3);

	for (unsigned i = 0; i < n; i++) {
		unsigned size = any_bytes ? 1 + any(run, 5) : 8;
		unsigned from = any(run, run->n_bytes / size) * size;
		uint8_t kind = kinds[any(run, G_N_ELEMENTS(kinds))];

		for (unsigned k = from; k < from + size; k++)
			section->access[k] |= kind;
	}
}

/* Memory ends its life, in part within the section, which has this part so far. */
static void end_life(struct run *run, struct pp_ulcp_search *search, struct pp_ulcp_lock *lock,
		     struct section *section, uint64_t id)
{
	unsigned from = any(run, run->n_bytes), size = 1 + any(run, run->n_bytes - from);
	bool has_end = any(run, 50); /* else it lasts until the end of all memory */

	if (!has_end)
		size = run->n_bytes - from;

	for (unsigned i = from; section && i < from + size; i++) {
		section->ended[i] = section->access[i];
		section->ended_life[i] = run->life[i];
		section->access[i] = 0;
	}
	if (section) {
		struct pp_access_set *part = set_of(section->ended, run->n_bytes);

		pp_ulcp_search_add_ending(lock, section->thread, id, section->is_reader, part);
		pp_access_set_unref(part);
	}
	for (unsigned i = from; i < from + size; i++)
		run->life[i]++;
	pp_ulcp_search_end_life(search, BASE + from, has_end ? size : UINT64_MAX);
}

static void add_sections(struct run *run, struct pp_ulcp_search *search,
			 struct pp_ulcp_lock **locks, bool frees, bool any_bytes)
{
	for (unsigned id = 0; id < run->n; id++) {
		struct section *section = &run->sections[id];
		struct pp_access_set *set;

		section->lock = any(run, run->n_locks);
		section->thread = any(run, run->n_threads);
		section->tag = any(run, 2);
		section->is_reader = !any(run, 4);
		if (frees && !any(run, 8))
			end_life(run, search, NULL, NULL, 0);
		fill(run, section, any_bytes);
		if (frees && !any(run, 8))
			end_life(run, search, locks[section->lock], section, id);
		memcpy(section->life, run->life, sizeof(run->life));
		set = set_of(section->access, run->n_bytes);
		if (section->is_reader)
			pp_ulcp_search_add_reader(locks[section->lock], section->thread, id,
						  section->tag, set);
		else
			pp_ulcp_search_add(locks[section->lock], section->thread, id, section->tag,
					   set);
		pp_access_set_unref(set);
	}
}

static bool contend(unsigned a, unsigned b)
{
	return ((a & WRITTEN && b) || (b & WRITTEN && a)) && ((a | b) & CHANGED);
}

/* Does the later section contend with the earlier one, in the same life of a byte? */
static bool do_contend(const struct run *run, const struct section *a, const struct section *b)
{
	if (a->is_reader && b->is_reader)
		return false;
	for (unsigned i = 0; i < run->n_bytes; i++)
		if ((contend(a->access[i], b->access[i]) && a->life[i] == b->life[i]) ||
		    (contend(a->access[i], b->ended[i]) && a->life[i] == b->ended_life[i]))
			return true;
	return false;
}

/* The edges by rule 1, as the paper says it. */
static void find_directly(const struct run *run, GHashTable *edges, GHashTable *counts)
{
	for (uint64_t a = 0; a < run->n; a++)
		for (unsigned thread = 0; thread < run->n_threads; thread++) {
			const struct section *from = &run->sections[a];
			uint64_t b = a + 1;

			while (b < run->n && (run->sections[b].thread != thread ||
					      run->sections[b].lock != from->lock ||
					      !do_contend(run, from, &run->sections[b])))
				b++;
			if (thread == from->thread || b == run->n)
				continue;
			count(edges, a << 32 | b, 1);
			count(counts, from->tag << 32 | b, 1);
		}
}

static bool are_equal(GHashTable *got, GHashTable *wanted)
{
	GHashTableIter iter;
	void *key, *number;

	if (g_hash_table_size(got) != g_hash_table_size(wanted))
		return false;
	g_hash_table_iter_init(&iter, wanted);
	while (g_hash_table_iter_next(&iter, &key, &number)) {
		const uint64_t *other = g_hash_table_lookup(got, key);

		if (!other || *other != *(const uint64_t *)number)
			return false;
	}
	return true;
}

static GHashTable *numbers_new(void)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
}

static void check_run(unsigned seed, struct run *run, bool frees, bool any_bytes)
{
	const struct pp_ulcp_search_listener listener = {
	    .data = run, .edges = take_edges, .contended = take_contended};
	struct pp_ulcp_search *search = pp_ulcp_search_new(&listener);
	g_autofree struct pp_ulcp_lock **locks = g_new(struct pp_ulcp_lock *, run->n_locks);
	g_autoptr(GHashTable) edges = numbers_new(), counts = numbers_new();

	run->sections = g_new0(struct section, run->n);
	run->edges = numbers_new();
	run->counts = numbers_new();
	for (unsigned i = 0; i < run->n_locks; i++)
		locks[i] = pp_ulcp_lock_new(search);
	add_sections(run, search, locks, frees, any_bytes);
	find_directly(run, edges, counts);
	if (!are_equal(run->edges, edges) || !are_equal(run->counts, counts)) {
		printf("run %u: %u edges, expected %u\n", seed, g_hash_table_size(run->edges),
		       g_hash_table_size(edges));
		n_failed++;
	}
	for (unsigned i = 0; i < run->n_locks; i++)
		pp_ulcp_lock_free(locks[i]);
	pp_ulcp_search_free(search);
	g_hash_table_unref(run->edges);
	g_hash_table_unref(run->counts);
	g_free(run->sections);
	g_rand_free(run->rand);
}

static void test_random(void)
{
	for (unsigned seed = 0; seed < N_RUNS && !n_failed; seed++) {
		struct run run = {.rand = g_rand_new_with_seed(seed)};

		run.n_bytes = LINE * (1 + any(&run, MAX_BYTES / LINE));
		run.n_threads = 2 + any(&run, 4);
		run.n_locks = 1 + any(&run, 3);
		run.n = 1 + any(&run, MAX_COUNT);
		check_run(seed, &run, seed % 2, seed % 3 == 0);
	}
}

/* A line with more kinds of accesses than it may have groups. */
static void test_many_kinds(void)
{
	struct run run = {.rand = g_rand_new_with_seed(1),
			  .n_bytes = LINE,
			  .n_threads = 3,
			  .n_locks = 1,
			  .n = MANY_KINDS};

	check_run(N_RUNS, &run, false, true);
}

int main(void)
{
	sets = pp_access_sets_new();
	test_uses();
	test_classes();
	test_figure_7();
	test_random();
	test_many_kinds();
	expect("all sets are released", pp_access_sets_count(sets) == 0);
	pp_access_sets_free(sets);
	if (!n_failed)
		printf("%u random runs: the edges are those of a direct search\n", N_RUNS + 1);
	return n_failed != 0;
}
