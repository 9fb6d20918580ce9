/* SPDX-License-Identifier: MIT */
/*
 * Compares `accesses` and `conflicts` with a list of all accesses of random programs, from which
 * every figure is found by looking at all of them: with which lives of a word each instance came
 * into contact, which of these two threads accessed, and whether an instance and the one before it
 * on its lock wrote or freed what the other one accessed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "access_programs.h"
#include "event_text.h"
#include "analysis/pass_set.h"

#define N_RUNS 1000

/* --- expected figures ------------------------------------------------------------------------- */

struct sums {
	uint64_t n, reads, writes, locations[2], shared[2], lines[2], shared_lines[2];
};

static bool is_shared_line(const struct program *program, int line, int thread)
{
	for (int word = 8 * line; word < 8 * line + 8; word++)
		if (is_shared(program, word, 0, thread, ACCESSED))
			return true;
	return false;
}

static void add_words(const struct program *program, struct sums *sums,
		      const struct instance *instance)
{
	for (int word = 0; word < N_WORDS; word++)
		for (int life = 0; life <= program->life[word]; life++) {
			int how = instance->access[word][life] & ACCESSED;
			int written = how & WRITTEN ? 1 : 0;

			if (!how)
				continue;
			sums->locations[written]++;
			sums->shared[written] +=
			    is_shared(program, word, life, instance->thread, ACCESSED);
		}
}

/* In programs that free nothing. */
static void add_lines(const struct program *program, struct sums *sums,
		      const struct instance *instance)
{
	for (int line = 0; line < N_WORDS / 8; line++) {
		int how = 0, written;

		for (int word = 8 * line; word < 8 * line + 8; word++)
			how |= instance->access[word][0];
		written = how & WRITTEN ? 1 : 0;
		sums->lines[written] += how != 0;
		sums->shared_lines[written] +=
		    how && is_shared_line(program, line, instance->thread);
	}
}

static struct sums expected(const struct program *program, int lock, int site)
{
	struct sums sums = {0};

	for (int i = 0; i < program->n_instances; i++) {
		const struct instance *instance = &program->instances[i];

		if ((lock != NONE && instance->lock != lock) ||
		    (site != NONE && instance->site != site))
			continue;
		sums.n++;
		sums.reads += instance->reads;
		sums.writes += instance->writes;
		add_words(program, &sums, instance);
		if (!program->frees)
			add_lines(program, &sums, instance);
	}
	return sums;
}

/* --- the rows --------------------------------------------------------------------------------- */

/* A mean over the instances of the row, as a sum. */
static uint64_t sum_of(const struct pp_table *table, unsigned row, const char *key)
{
	const struct pp_cell *n = pp_table_cell(table, row, "recorded");
	const struct pp_cell *cell = pp_table_cell(table, row, key);

	return n && cell ? (uint64_t)(cell->number * (double)n->count + 0.5) : 0;
}

static bool has_sums(const struct program *program, const struct pp_table *table, unsigned row,
		     const struct sums *want)
{
	static const char *const keys[] = {"locations_ro",    "locations_rw",	"shared_ro",
					   "shared_rw",	      "lines_ro",	"lines_rw",
					   "shared_lines_ro", "shared_lines_rw"};
	const uint64_t wanted[] = {want->locations[0],	  want->locations[1],	want->shared[0],
				   want->shared[1],	  want->lines[0],	want->lines[1],
				   want->shared_lines[0], want->shared_lines[1]};
	bool good = pp_table_cell(table, row, "instances")->count == want->n &&
		    sum_of(table, row, "reads") == want->reads &&
		    sum_of(table, row, "writes") == want->writes;

	for (unsigned i = 0; i < (program->frees ? 4 : G_N_ELEMENTS(keys)); i++) {
		uint64_t got = sum_of(table, row, keys[i]);

		if (got != wanted[i])
			printf("%s: %" PRIu64 ", expected %" PRIu64 "\n", keys[i], got, wanted[i]);
		good &= got == wanted[i];
	}
	return good;
}

static unsigned check_sections(const struct program *program, const struct pp_table *table)
{
	uint64_t n = 0;

	for (guint i = 0; i < table->rows->len; i++) {
		int site = pp_table_cell(table, i, "entry")->text[4] - '0';
		struct sums want = expected(program, NONE, site);

		n += want.n;
		if (!has_sums(program, table, i, &want)) {
			printf("section %d\n", site);
			return 1;
		}
	}
	return n != (uint64_t)program->n_instances;
}

static unsigned check_locks(const struct program *program, const struct pp_table *table)
{
	for (guint i = 0; i < table->rows->len; i++) {
		int lock = (int)(pp_table_cell(table, i, "object")->count / 0x1000) - 1;
		struct sums want = expected(program, lock, NONE);

		if (!has_sums(program, table, i, &want)) {
			printf("lock %d\n", lock);
			return 1;
		}
	}
	return 0;
}

/* --- conflicts -------------------------------------------------------------------------------- */

struct pair_sums {
	uint64_t n, n_conflicts, n_lines;
};

static bool do_conflict(const struct program *program, const struct instance *a,
			const struct instance *b)
{
	for (int word = 0; word < N_WORDS; word++)
		for (int life = 0; life <= program->life[word]; life++)
			if (do_words_conflict(a->access[word][life], b->access[word][life]))
				return true;
	return false;
}

static bool share_line(const struct instance *a, const struct instance *b)
{
	for (int line = 0; line < N_WORDS / 8; line++) {
		int how_a = 0, how_b = 0;

		for (int word = 8 * line; word < 8 * line + 8; word++) {
			how_a |= a->access[word][0];
			how_b |= b->access[word][0];
		}
		if (do_words_conflict(how_a, how_b))
			return true;
	}
	return false;
}

/* The instance of the lock that ended before this one. */
static const struct instance *before(const struct program *program, const struct instance *instance)
{
	const struct instance *found = NULL;

	for (int i = 0; i < program->n_instances; i++) {
		const struct instance *other = &program->instances[i];

		if (other->lock == instance->lock && other->end < instance->end &&
		    (!found || other->end > found->end))
			found = other;
	}
	return found;
}

static struct pair_sums expected_pair(const struct program *program, int a, int b)
{
	struct pair_sums sums = {0};

	for (int i = 0; i < program->n_instances; i++) {
		const struct instance *instance = &program->instances[i];
		const struct instance *last = before(program, instance);
		bool conflicts;

		if (!last || last->thread == instance->thread ||
		    MIN(last->site, instance->site) != a || MAX(last->site, instance->site) != b)
			continue;
		conflicts = do_conflict(program, last, instance);
		sums.n++;
		sums.n_conflicts += conflicts;
		sums.n_lines += !conflicts && share_line(last, instance);
	}
	return sums;
}

static unsigned check_conflicts(const struct program *program, const struct pp_table *table)
{
	uint64_t n = 0, n_all = 0;

	for (int a = 0; a < N_SITES; a++)
		for (int b = a; b < N_SITES; b++)
			n_all += expected_pair(program, a, b).n;
	for (guint i = 0; i < table->rows->len; i++) {
		int a = pp_table_cell(table, i, "first")->text[4] - '0';
		int b = pp_table_cell(table, i, "second")->text[4] - '0';
		struct pair_sums want = expected_pair(program, a, b);
		uint64_t conflicts = pp_table_cell(table, i, "conflicts")->count;
		uint64_t lines = pp_table_cell(table, i, "only_lines")->count;

		n += pp_table_cell(table, i, "consecutive")->count;
		if (want.n == pp_table_cell(table, i, "consecutive")->count &&
		    want.n_conflicts == conflicts && (program->frees || want.n_lines == lines))
			continue;
		printf("sections %d and %d: %" PRIu64 " conflicts, %" PRIu64
		       " in lines; expected %" PRIu64 " and %" PRIu64 " of %" PRIu64 "\n",
		       a, b, conflicts, lines, want.n_conflicts, want.n_lines, want.n);
		return 1;
	}
	return n != n_all;
}

/* --- runs ------------------------------------------------------------------------------------- */

static char *name_address(void *data, const struct pp_process *process, uint64_t address)
{
	(void)data;
	(void)process;
	return g_strdup_printf("0x%" PRIx64, address);
}

static const struct pp_namer namer = {
    .site = name_address, .function = name_address, .object = name_address};

static const struct pp_table *find(const struct pp_pass_set *passes, const char *pass,
				   const char *key)
{
	unsigned n;
	struct pp_table **tables = pp_pass_set_tables(passes, pass, &n);

	for (unsigned i = 0; i < n; i++)
		if (strcmp(tables[i]->key, key) == 0)
			return tables[i];
	return NULL;
}

static unsigned check_passes(const struct program *program, const struct pp_text *text)
{
	static const char *const names[] = {"accesses", "conflicts"};
	struct pp_pass_context context = {.model = text->model, .namer = &namer};
	struct pp_pass_set *passes = pp_pass_set_new(&context, names, 2);
	unsigned n_wrong;

	for (guint i = 0; i < text->events->len; i++)
		pp_pass_set_event(passes, &g_array_index(text->events, struct pp_event, i));
	pp_pass_set_finish(passes, text->model->end_ns);
	n_wrong = check_sections(program, find(passes, "accesses", "accesses")) +
		  check_locks(program, find(passes, "accesses", "access_locks")) +
		  check_conflicts(program, find(passes, "conflicts", "conflicts"));
	pp_pass_set_free(passes);
	return n_wrong;
}

static unsigned check(unsigned run)
{
	struct program *program = g_new0(struct program, 1);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_text *text;
	unsigned n_wrong;

	make_program(program, run);
	if (pp_text_read(program->events->str, "events", 1, &text, &err) != 0) {
		g_autofree char *what = pp_error_text(&err);

		printf("%s\n", what);
		return 1;
	}
	n_wrong = check_passes(program, text);
	if (n_wrong)
		printf("run %u:\n%s", run, program->events->str);
	pp_text_free(text);
	program_done(program);
	g_free(program);
	return n_wrong;
}

int main(void)
{
	for (unsigned run = 0; run < N_RUNS; run++)
		if (check(run))
			return 1;
	printf("%d runs: the figures are those of the list of accesses\n", N_RUNS);
	return 0;
}
