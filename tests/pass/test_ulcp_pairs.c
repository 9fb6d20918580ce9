/* SPDX-License-Identifier: MIT */
/*
 * Compares `ulcp` with Algorithm 1 of paper 003 and the search of its rule 1, as the paper writes
 * them, for the sections of random programs: each pair of consecutive sections, and each pair of a
 * section and later ones of another thread, is found by a comparison of all accesses.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "access_programs.h"
#include "event_text.h"
#include "analysis/pass_set.h"

#define N_RUNS 600

enum class { NULL_LOCK, READ_READ, DISJOINT_WRITE, BENIGN, TRULY, UPDATES, FLAGS, N_CLASSES };

static const char *const keys[N_CLASSES] = {"null_lock",      "read_read", "disjoint_write",
					    "benign",	      "true",	   "undecided_updates",
					    "undecided_flags"};

/* The sections of a lock, in the order in which they had it. */
struct list {
	const struct instance *at[N_INSTANCES];
	int n;
};

struct sums {
	uint64_t of_class[N_CLASSES];
	uint64_t passed[N_CLASSES];
	uint64_t n_edges;
};

static struct list list_of(const struct program *program, int lock)
{
	struct list list = {.n = 0};

	for (int end = 0; end < program->n_ended; end++)
		for (int i = 0; i < program->n_instances; i++)
			if (program->instances[i].lock == lock && program->instances[i].end == end)
				list.at[list.n++] = &program->instances[i];
	return list;
}

/* --- conflicts -------------------------------------------------------------------------------- */

static bool is_same_section(const struct instance *a, const struct instance *b)
{
	for (int word = 0; word < N_WORDS; word++) {
		if (a->access[word][a->life_at_end[word]] != b->access[word][b->life_at_end[word]])
			return false;
		for (int life = 0; life < b->life_at_end[word]; life++)
			if (b->access[word][life] ||
			    (life < a->life_at_end[word] && a->access[word][life]))
				return false;
	}
	return a->site == b->site;
}

/* The section of its thread before it on the lock, if that is the same; -1. */
static int same_before(const struct list *list, int at)
{
	for (int i = at - 1; i >= 0; i--)
		if (list->at[i]->thread == list->at[at]->thread)
			return is_same_section(list->at[i], list->at[at]) ? i : -1;
	return -1;
}

/* Does a section that ended between these, of any lock, change what they access? */
static bool is_changed_between(const struct program *program, const struct instance *a,
			       const struct instance *b)
{
	for (int i = 0; i < program->n_instances; i++) {
		const struct instance *other = &program->instances[i];

		if (other->end < a->end || other->end >= b->end)
			continue;
		for (int word = 0; word < N_WORDS; word++)
			if (b->access[word][b->life_at_end[word]] &&
			    other->access[word][other->life_at_end[word]] & CHANGED)
				return true;
	}
	return false;
}

/* The section is the same as the one before it of its thread, and found the same values. */
static bool polls(const struct program *program, const struct list *list, int at)
{
	int before = same_before(list, at);

	return before >= 0 && !is_changed_between(program, list->at[before], list->at[at]);
}

static bool ends_poll(const struct program *program, const struct list *list, int at)
{
	int before = same_before(list, at);

	return before >= 0 && polls(program, list, before);
}

/* One class for the two accesses of a word; N_CLASSES: they do not conflict. */
static enum class class_of_word(int a, int b, bool a_polls, bool b_polls) {
	if (!do_words_conflict(a, b)) return N_CLASSES;
	/* In the other order it would be accessed after the free. */
	if ((a | b) & FREED) return TRULY;
	if (!((a | b) & CHANGED)) return BENIGN;
	if ((a & b) & READ && (a & b) & WRITTEN) return UPDATES;
	if ((!(a & WRITTEN) && a_polls) || (!(b & WRITTEN) && b_polls)) return FLAGS;
	return TRULY;
}

/* TRULY if any word is; else UPDATES, FLAGS, BENIGN; N_CLASSES: none conflicts. */
static enum class conflict_of(const struct program *program, const struct instance *a,
			      const struct instance *b, bool a_polls, bool b_polls) {
	static const enum class order[] = {TRULY, UPDATES, FLAGS, BENIGN};
	bool has[N_CLASSES + 1] = {false};

	for (int word = 0; word < N_WORDS; word++) for (int life = 0; life <= program->life[word];
							life++)
	    has[class_of_word(a->access[word][life], b->access[word][life], a_polls, b_polls)] =
		true;
	for (unsigned i = 0; i < G_N_ELEMENTS(order); i++) if (has[order[i]]) return order[i];
	return N_CLASSES;
}

/* --- Algorithm 1 ------------------------------------------------------------------------------ */

static int shared_use(const struct program *program, const struct instance *instance)
{
	int use = 0;

	for (int word = 0; word < N_WORDS; word++)
		for (int life = 0; life <= program->life[word]; life++)
			if (instance->access[word][life] &&
			    is_shared(program, word, life, instance->thread, ACCESSED | FREED))
				use |= instance->access[word][life];
	return use & FREED ? use | WRITTEN : use;
}

static enum class class_without_conflict(const struct program *program, const struct instance *a,
					 const struct instance *b) {
	int use_a = shared_use(program, a), use_b = shared_use(program, b);

	if (!use_a || !use_b) return NULL_LOCK;
	return (use_a | use_b) & WRITTEN ? DISJOINT_WRITE : READ_READ;
}

static void count_consecutive(const struct program *program, const struct list *list,
			      struct sums *sums)
{
	for (int i = 1; i < list->n; i++) {
		const struct instance *a = list->at[i - 1], *b = list->at[i];
		enum class class;

		if (a->thread == b->thread)
			continue;
		class = conflict_of(program, a, b, polls(program, list, i - 1),
				    ends_poll(program, list, i));
		if (class == N_CLASSES)
			class = class_without_conflict(program, a, b);
		sums->of_class[class]++;
	}
}

static void search(const struct program *program, const struct list *list, int from, int thread,
		   struct sums *sums)
{
	const struct instance *a = list->at[from];

	for (int i = from + 1; i < list->n; i++) {
		const struct instance *b = list->at[i];
		enum class class;

		if (b->thread != thread)
			continue;
		class = conflict_of(program, a, b, false, false);
		if (class != BENIGN && class != N_CLASSES) {
			sums->n_edges++;
			return;
		}
		sums->passed[class_without_conflict(program, a, b)]++;
	}
}

static struct sums expected(const struct program *program, int lock)
{
	struct list list = list_of(program, lock);
	struct sums sums = {.n_edges = 0};

	count_consecutive(program, &list, &sums);
	for (int i = 0; i < list.n; i++)
		for (int thread = 0; thread < N_THREADS; thread++)
			if (thread != list.at[i]->thread)
				search(program, &list, i, thread, &sums);
	return sums;
}

/* --- the rows --------------------------------------------------------------------------------- */

static unsigned n_failed;
static uint64_t n_of_class[N_CLASSES];

static void check(const struct pp_table *table, unsigned row, const char *key, uint64_t wanted)
{
	uint64_t got = pp_table_cell(table, row, key)->count;

	if (got == wanted)
		return;
	printf("%s: %" PRIu64 ", expected %" PRIu64 "\n", key, got, wanted);
	n_failed++;
}

static void check_lock(const struct program *program, const struct pp_table *table, unsigned row)
{
	int lock = (int)(pp_table_cell(table, row, "object")->count / 0x1000) - 1;
	struct sums sums = expected(program, lock);

	for (unsigned i = 0; i < N_CLASSES; i++) {
		check(table, row, keys[i], sums.of_class[i]);
		n_of_class[i] += sums.of_class[i];
	}
	check(table, row, "passed_null_lock", sums.passed[NULL_LOCK]);
	check(table, row, "passed_read_read", sums.passed[READ_READ]);
	check(table, row, "passed_writes", sums.passed[DISJOINT_WRITE]);
	check(table, row, "passed_undecided", 0);
	check(table, row, "contending", sums.n_edges);
}

static char *name_address(void *data, const struct pp_process *process, uint64_t address)
{
	(void)data;
	(void)process;
	return g_strdup_printf("0x%" PRIx64, address);
}

static const struct pp_namer namer = {
    .site = name_address, .function = name_address, .object = name_address};

static void check_text(const struct program *program, const struct pp_text *text)
{
	static const char *const names[] = {"ulcp"};
	struct pp_pass_context context = {.model = text->model, .namer = &namer};
	struct pp_pass_set *passes = pp_pass_set_new(&context, names, 1);
	struct pp_table **tables;
	unsigned n;

	for (guint i = 0; i < text->events->len; i++)
		pp_pass_set_event(passes, &g_array_index(text->events, struct pp_event, i));
	pp_pass_set_finish(passes, text->model->end_ns);
	tables = pp_pass_set_tables(passes, "ulcp", &n);
	for (unsigned i = 0; i < n; i++)
		for (guint row = 0;
		     strcmp(tables[i]->key, "ulcp_locks") == 0 && row < tables[i]->rows->len; row++)
			check_lock(program, tables[i], row);
	pp_pass_set_free(passes);
}

static void check_run(unsigned run)
{
	struct program *program = g_new0(struct program, 1);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_text *text;

	make_program(program, run);
	if (pp_text_read(program->events->str, "events", 1, &text, &err) == 0) {
		check_text(program, text);
		pp_text_free(text);
	} else {
		g_autofree char *what = pp_error_text(&err);

		printf("%s\n", what);
		n_failed++;
	}
	if (n_failed)
		printf("run %u:\n%s", run, program->events->str);
	program_done(program);
	g_free(program);
}

int main(void)
{
	for (unsigned run = 0; run < N_RUNS && !n_failed; run++)
		check_run(run);
	for (unsigned i = 0; i < N_CLASSES && !n_failed; i++)
		if (!n_of_class[i]) {
			printf("no pair is %s\n", keys[i]);
			n_failed++;
		}
	if (!n_failed)
		printf("%d runs: the pairs are those of a direct Algorithm 1\n", N_RUNS);
	return n_failed != 0;
}
