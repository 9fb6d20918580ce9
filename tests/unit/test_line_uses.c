/* SPDX-License-Identifier: MIT */
/*
 * The table of lines and their uses, and that of counted instances, compared with arrays that are
 * searched: lines that come and go, uses in and out of order, counts that would overflow.
 */
#include "check.h"

#include "analysis/accesses/counted.h"
#include "analysis/accesses/line_uses.h"
#include "analysis/accesses/users.h"
#include "core/model.h"

#define N_ADDRESSES 3000
#define N_STEPS	    40000
#define N_THREADS   3
#define N_SETS	    6000

static struct pp_process *processes;
static struct pp_thread *threads;

/* --- lines ------------------------------------------------------------------------------------ */

static uint64_t address_of(int i)
{
	return (uint64_t)(i / 2) * ST_LINE_BYTES;
}

static const struct pp_process *process_of(int i)
{
	return &processes[i % 2];
}

/* The number of instances in the uses of the line by that thread. */
static uint64_t n_of(const struct pp_line_uses *uses, const struct pp_used_line *line,
		     const struct pp_thread *thread)
{
	uint64_t n = 0;

	for (uint32_t at = line->uses; at; at = pp_line_use_at(uses, at)->next)
		if (pp_line_use_at(uses, at)->thread == thread)
			n += pp_line_use_at(uses, at)->n;
	return n;
}

static void remove_line(struct pp_line_uses *uses, int i)
{
	struct pp_used_line *line = pp_line_uses_find(uses, process_of(i), address_of(i));

	if (!line)
		return;
	while (line->uses)
		pp_line_use_remove(uses, &line->uses);
	pp_line_uses_remove(uses, line);
}

static void check_lines(const struct pp_line_uses *uses, uint64_t n[N_ADDRESSES][N_THREADS])
{
	uint64_t place = 0, n_found = 0, n_expected = 0;

	while (pp_line_uses_each(uses, &place))
		n_found++;
	for (int i = 0; i < N_ADDRESSES; i++) {
		const struct pp_used_line *line =
		    pp_line_uses_find(uses, process_of(i), address_of(i));
		bool is_used = false;

		for (int k = 0; k < N_THREADS; k++) {
			is_used |= n[i][k] != 0;
			CHECK_INT(line ? n_of(uses, line, &threads[k]) : 0, n[i][k]);
		}
		CHECK(is_used == (line != NULL));
		n_expected += is_used;
	}
	CHECK_INT(n_found, n_expected);
	CHECK_INT(pp_line_uses_count(uses), n_expected);
}

static void test_lines(unsigned seed)
{
	static uint64_t n[N_ADDRESSES][N_THREADS];
	struct pp_line_uses *uses = pp_line_uses_new();
	struct pp_location_user *user = pp_location_user_new(NULL);
	GRand *rand = g_rand_new_with_seed(seed);

	memset(n, 0, sizeof(n));
	for (int step = 0; step < N_STEPS; step++) {
		int i = g_rand_int_range(rand, 0, N_ADDRESSES);
		int k = g_rand_int_range(rand, 0, N_THREADS);

		if (g_rand_int_range(rand, 0, 3) == 0) {
			remove_line(uses, i);
			memset(n[i], 0, sizeof(n[i]));
		} else {
			struct pp_used_line *line =
			    pp_line_uses_get(uses, process_of(i), address_of(i));

			pp_line_use_of(uses, line, user, &threads[k], 1)->n++;
			n[i][k]++;
		}
	}
	check_lines(uses, n);
	CHECK(user->n_refs > 1);
	pp_line_uses_free(uses);
	CHECK_INT(user->n_refs, 1);
	pp_location_user_unref(user);
	g_rand_free(rand);
}

/* A use that is full is followed by another one; it is filled up with smaller numbers. */
static void test_overflow(void)
{
	struct pp_line_uses *uses = pp_line_uses_new();
	struct pp_location_user *user = pp_location_user_new(NULL);
	struct pp_used_line *line = pp_line_uses_get(uses, &processes[0], 0);
	struct pp_line_use *first = pp_line_use_of(uses, line, user, &threads[0], UINT32_MAX - 5);
	struct pp_line_use *second;

	first->n = UINT32_MAX - 5;
	CHECK(pp_line_use_of(uses, line, user, &threads[0], 5) == first);
	second = pp_line_use_of(uses, line, user, &threads[0], 6);
	CHECK(second != first);
	second->n = UINT32_MAX;
	CHECK(pp_line_use_of(uses, line, user, &threads[0], 5) == first);
	CHECK_INT(n_of(uses, line, &threads[0]), (uint64_t)UINT32_MAX * 2 - 5);
	pp_line_uses_free(uses);
	pp_location_user_unref(user);
}

/* --- counted instances ------------------------------------------------------------------------ */

struct expected {
	uint64_t n[N_SETS][N_THREADS];
};

/* Takes what the table has counted out of what is expected. */
static void take(struct pp_counted_table *table, struct expected *expected)
{
	unsigned n;
	const struct pp_counted *entries = pp_counted_entries(table, &n);

	for (unsigned i = 0; i < n; i++) {
		uint64_t set = entries[i].set->lines[0].address / ST_LINE_BYTES;
		size_t thread = (size_t)(entries[i].thread - threads);

		CHECK(entries[i].n <= expected->n[set][thread]);
		expected->n[set][thread] -= entries[i].n;
	}
	pp_counted_clear(table);
	pp_counted_entries(table, &n);
	CHECK_INT(n, 0);
}

static void test_counted(int n_sets, bool is_cleared_often)
{
	static struct expected expected;
	struct pp_access_sets *sets = pp_access_sets_new();
	struct pp_counted_table *table = pp_counted_new();
	struct pp_location_user *user = pp_location_user_new(NULL);
	GRand *rand = g_rand_new_with_seed((guint32)n_sets);
	unsigned n_full = 0;

	for (int step = 0; step < N_STEPS; step++) {
		int i = g_rand_int_range(rand, 0, n_sets), k = g_rand_int_range(rand, 0, N_THREADS);
		struct pp_access_line line = {.address = (uint64_t)i * ST_LINE_BYTES, .read = 1};
		struct pp_access_set *set = pp_access_set_get(sets, &line, 1);

		expected.n[i][k]++;
		if (!pp_counted_add(table, user, &threads[k], set)) {
			n_full++;
			expected.n[i][k]--;
			take(table, &expected);
			expected.n[i][k]++;
			CHECK(pp_counted_add(table, user, &threads[k], set));
		}
		pp_access_set_unref(set);
		if (is_cleared_often && step % 7 == 0)
			take(table, &expected);
	}
	CHECK((n_full > 0) == (n_sets == N_SETS && !is_cleared_often));
	take(table, &expected);
	for (int i = 0; i < n_sets; i++)
		for (int k = 0; k < N_THREADS; k++)
			CHECK_INT(expected.n[i][k], 0);
	/* Neither the users nor the sets are held any more. */
	CHECK_INT(user->n_refs, 1);
	CHECK_INT(pp_access_sets_count(sets), 0);
	pp_counted_free(table);
	pp_access_sets_free(sets);
	pp_location_user_unref(user);
	g_rand_free(rand);
}

int main(void)
{
	processes = g_new0(struct pp_process, 2);
	threads = g_new0(struct pp_thread, N_THREADS);
	for (unsigned seed = 0; seed < 5; seed++)
		test_lines(seed);
	test_overflow();
	test_counted(20, false);
	test_counted(N_SETS, false);
	test_counted(N_SETS, true);
	g_free(processes);
	g_free(threads);
	return 0;
}
