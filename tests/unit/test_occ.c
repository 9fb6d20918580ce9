/* SPDX-License-Identifier: MIT */
/*
 * The model of optimistic concurrency (postproc/analysis/occ): cases by hand, among them the
 * numbers of paper 001's Figure 1, and random traces against a transcription of the paper's
 * formulas that keeps all traces and searches them for each S(tr, t).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "analysis/occ/conflicts.h"
#include "analysis/occ/gain.h"

static unsigned n_failed;

static void check(const char *what, double got, double expected, double tolerance)
{
	if (fabs(got - expected) <= tolerance)
		return;
	printf("%s: %.9g, expected %.9g\n", what, got, expected);
	n_failed++;
}

#define EXACT 1e-12

/* --- sets ----------------------------------------------------------------------------------- */

static struct pp_access_sets *sets_of_test;

static struct pp_access_set *set_of(const struct pp_access_line *lines, unsigned n)
{
	struct pp_access_line copy[8];

	if (n)
		memcpy(copy, lines, n * sizeof(*lines));
	return pp_access_set_get(sets_of_test, copy, n);
}

static void test_sets(void)
{
	/* Bytes 0 to 3 and 4 to 7 of a word are one location. */
	const struct pp_access_line lines[] = {
	    {.address = 0x1000, .read = 0xff, .written = 0x0f},
	    {.address = 0x1040, .read = 0xff},
	    {.address = 0x1080, .read = 0x8000000000000001, .written = 0x100}};
	const struct pp_access_line other[] = {{.address = 0x1000, .written = 0xf0},
					       {.address = 0x1080, .written = 1}};
	struct pp_access_set *a = set_of(lines, G_N_ELEMENTS(lines));
	struct pp_access_set *b = set_of(other, G_N_ELEMENTS(other));
	struct pp_occ_size size = pp_occ_size(a);
	struct pp_occ_common common = pp_occ_common(a, b);

	check("written lines", size.written_lines, 2, 0);
	check("read lines", size.read_lines, 1, 0);
	check("written locations", size.written_locations, 2, 0);
	check("read locations", size.read_locations, 4, 0);
	check("common locations", common.n_locations, 2, 0);
	check("common lines", common.n_lines, 2, 0);
	/* b accesses none of the bytes that a writes, but both of its lines. */
	common = pp_occ_common(b, a);
	check("common locations, the other way", common.n_locations, 0, 0);
	check("common lines, the other way", common.n_lines, 2, 0);
	pp_access_set_unref(a);
	pp_access_set_unref(b);
}

/* --- traces --------------------------------------------------------------------------------- */

#define N_SETS	  12u
#define N_THREADS 5u
#define N_TRACES  300u

struct added {
	unsigned thread;
	struct pp_access_set *set, *freed;
};

/* The number of traces of its thread from a trace up to before `until`. */
static unsigned n_own(const struct added *traces, unsigned from, unsigned until)
{
	unsigned n = 0;

	for (unsigned i = from; i < until; i++)
		n += traces[i].thread == traces[from].thread;
	return n;
}

struct slow {
	double sum[PP_OCC_GRAINS]; /* of p_tr */
	unsigned n;
	double n_common[PP_OCC_GRAINS], n_conflicts, n_false_lines, n_line_conflicts;
};

/* C(A, B), and adds the sizes of the intersection. */
static double c_of(struct slow *slow, struct pp_access_set *a, struct pp_access_set *b,
		   enum pp_occ_grain grain)
{
	struct pp_occ_common common = pp_occ_common(a, b);
	unsigned n = grain == PP_OCC_LOCATIONS ? common.n_locations : common.n_lines;

	if (grain == PP_OCC_LINES && n) {
		slow->n_line_conflicts++;
		slow->n_false_lines += common.n_locations ? 0 : n;
	}
	if (grain == PP_OCC_LOCATIONS && n) {
		slow->n_conflicts++;
		slow->n_common[PP_OCC_LOCATIONS] += n;
		slow->n_common[PP_OCC_LINES] += common.n_lines;
	}
	return n ? 0.5 : 0;
}

/* All that the trace may meet in one that came before or after it: what it frees was there before.
 */
static struct pp_access_set *met(const struct added *traces, unsigned tr, unsigned other)
{
	return tr > other ? pp_access_set_union(traces[tr].set, traces[tr].freed)
			  : pp_access_set_ref(traces[tr].set);
}

/* C(tr, other) of both grains. */
static void add_pair(struct slow *slow, const struct added *traces, unsigned tr, unsigned other,
		     double *p_tr)
{
	struct pp_access_set *a = met(traces, tr, other), *b = met(traces, other, tr);

	for (unsigned grain = 0; grain < PP_OCC_GRAINS; grain++)
		p_tr[grain] += c_of(slow, a, b, grain);
	pp_access_set_unref(a);
	pp_access_set_unref(b);
}

static void add_trace(struct slow *slow, const struct added *traces, unsigned n, unsigned tr)
{
	double p_tr[PP_OCC_GRAINS] = {0};
	unsigned n_near = 0;

	for (unsigned t = 0; t < N_THREADS; t++) {
		int near[2] = {-1, -1};

		if (t == traces[tr].thread)
			continue;
		for (unsigned i = 0; i < tr; i++)
			if (traces[i].thread == t)
				near[0] = (int)i;
		for (unsigned i = n; i-- > tr + 1;)
			if (traces[i].thread == t)
				near[1] = (int)i;
		if (near[1] >= 0 && n_own(traces, tr, (unsigned)near[1]) > PP_OCC_WINDOW)
			near[1] = -1;
		for (unsigned side = 0; side < 2; side++) {
			if (near[side] < 0)
				continue;
			n_near++;
			add_pair(slow, traces, tr, (unsigned)near[side], p_tr);
		}
	}
	if (!n_near)
		return;
	slow->n++;
	for (unsigned grain = 0; grain < PP_OCC_GRAINS; grain++)
		slow->sum[grain] += p_tr[grain] / n_near;
}

static struct pp_access_set *random_set(void)
{
	struct pp_access_line lines[4];
	unsigned n = (unsigned)rand() % 4;

	for (unsigned i = 0; i < n; i++) {
		uint64_t bits = UINT64_C(0xff) << (8 * (rand() % 8));

		lines[i] =
		    (struct pp_access_line){0x1000 + 0x40 * (uint64_t)(rand() % 6), bits,
					    rand() % 3 ? 0 : bits & ((uint64_t)rand() << 20)};
	}
	return set_of(lines, n);
}

static void compare(const struct slow *slow, const struct pp_occ_sums *result)
{
	double n = slow->n ? slow->n : 1;

	check("compared traces", (double)result->n_compared, slow->n, 0);
	check("p_c of locations", pp_occ_sums_p_c(result, PP_OCC_LOCATIONS),
	      slow->sum[PP_OCC_LOCATIONS] / n, 1e-9);
	check("p_c of lines", pp_occ_sums_p_c(result, PP_OCC_LINES), slow->sum[PP_OCC_LINES] / n,
	      1e-9);
	check("conflicts", (double)result->n_conflicts[PP_OCC_LOCATIONS], slow->n_conflicts, 0);
	check("conflicts of lines", (double)result->n_conflicts[PP_OCC_LINES],
	      slow->n_line_conflicts, 0);
	if (slow->n_conflicts > 0) {
		check("common locations", pp_occ_sums_common(result, PP_OCC_LOCATIONS),
		      slow->n_common[PP_OCC_LOCATIONS] / slow->n_conflicts, 1e-9);
		check("common lines", pp_occ_sums_common(result, PP_OCC_LINES),
		      slow->n_common[PP_OCC_LINES] / slow->n_conflicts, 1e-9);
	} else {
		check("common locations", pp_occ_sums_common(result, PP_OCC_LOCATIONS), 0, 0);
		check("common lines", pp_occ_sums_common(result, PP_OCC_LINES),
		      slow->n_line_conflicts > 0 ? slow->n_false_lines / slow->n_line_conflicts : 0,
		      1e-9);
	}
}

/* Threads come with different frequency, so that windows end. */
static void test_random(unsigned seed)
{
	struct pp_occ_memo *memo = pp_occ_memo_new();
	struct pp_occ_conflicts *conflicts = pp_occ_conflicts_new(memo);
	struct pp_access_set *sets[N_SETS];
	struct added traces[N_TRACES];
	struct pp_occ_sums result = {0};
	struct slow slow = {0};
	struct pp_access_set *none = set_of(NULL, 0);
	unsigned n_threads = 1 + seed % N_THREADS, skew = 1 + seed % 7;

	srand(seed);
	for (unsigned i = 0; i < N_SETS; i++)
		sets[i] = random_set();
	for (unsigned i = 0; i < N_TRACES; i++) {
		unsigned t = (unsigned)rand() % n_threads;

		if (rand() % 40 < (int)skew * 6 && i % 3)
			t = 0;
		traces[i] = (struct added){t, sets[(unsigned)rand() % N_SETS],
					   seed % 2 ? sets[(unsigned)rand() % N_SETS] : none};
		pp_occ_conflicts_add(conflicts, t, traces[i].set, traces[i].freed);
	}
	for (unsigned i = 0; i < N_TRACES; i++)
		add_trace(&slow, traces, N_TRACES, i);
	pp_occ_conflicts_finish(conflicts, &result);
	compare(&slow, &result);
	pp_occ_conflicts_free(conflicts);
	pp_occ_memo_free(memo);
	for (unsigned i = 0; i < N_SETS; i++)
		pp_access_set_unref(sets[i]);
	pp_access_set_unref(none);
	if (n_failed) {
		printf("with seed %u\n", seed);
		exit(1);
	}
}

/* A counter: each trace writes the same word, in turn. */
static void test_counter(void)
{
	const struct pp_access_line line = {.address = 0x1000, .read = 0xff, .written = 0xff};
	struct pp_access_set *set = set_of(&line, 1), *none = set_of(NULL, 0);
	struct pp_occ_memo *memo = pp_occ_memo_new();
	struct pp_occ_conflicts *conflicts = pp_occ_conflicts_new(memo);
	struct pp_occ_sums result = {0};

	for (unsigned i = 0; i < 30; i++)
		pp_occ_conflicts_add(conflicts, 100 + i % 12, set, none);
	pp_occ_conflicts_finish(conflicts, &result);
	check("p_c of a counter", pp_occ_sums_p_c(&result, PP_OCC_LOCATIONS), 0.5, EXACT);
	check("p of a counter, w 3", pp_occ_p_conflict(0.5, 3), 0.875, EXACT);
	pp_occ_conflicts_free(conflicts);
	pp_occ_memo_free(memo);
	pp_access_set_unref(set);
	pp_access_set_unref(none);
}

/*
 * Threads 1, 2, 1 with sets of which the first and the last conflict with the second: by locations,
 * p_tr = 0.5, (0.5 + 0) / 2, 0; the third trace shares only the line.
 */
static void test_by_hand(void)
{
	const struct pp_access_line lines[] = {
	    {0x1000, 0x01, 0x01}, {0x1000, 0x03, 0x01}, {0x1000, 0x100, 0x100}};
	struct pp_occ_memo *memo = pp_occ_memo_new();
	struct pp_occ_conflicts *conflicts = pp_occ_conflicts_new(memo);
	struct pp_occ_sums result = {0};
	struct pp_access_set *sets[3], *none = set_of(NULL, 0);

	for (unsigned i = 0; i < 3; i++) {
		sets[i] = set_of(&lines[i], 1);
		pp_occ_conflicts_add(conflicts, i % 2, sets[i], none);
	}
	pp_occ_conflicts_finish(conflicts, &result);
	check("p_c by hand", pp_occ_sums_p_c(&result, PP_OCC_LOCATIONS), (0.5 + 0.25 + 0) / 3,
	      EXACT);
	check("p_c of lines by hand", pp_occ_sums_p_c(&result, PP_OCC_LINES), 0.5, EXACT);
	check("common locations by hand", pp_occ_sums_common(&result, PP_OCC_LOCATIONS), 1, EXACT);
	for (unsigned i = 0; i < 3; i++)
		pp_access_set_unref(sets[i]);
	pp_access_set_unref(none);
	pp_occ_conflicts_free(conflicts);
	pp_occ_memo_free(memo);
}

/* --- the gain ------------------------------------------------------------------------------- */

/* Figure 1: p = 0.187379 at w = 1.626667, and the speedups of threads 0 and 2. */
static void test_figure_1(void)
{
	double p_c = 1 - pow(1 - 0.187379, 1 / 1.626667), p = pp_occ_p_conflict(p_c, 1.626667);
	double repeats = pp_occ_repeats(p_c, 1.626667), speedup = 0;

	check("p", p, 0.187379, 1e-9);
	check("p / (1 - p)", repeats, p / (1 - p), 1e-9);
	check("a speedup", pp_occ_speedup(0.373387, 0.289591, repeats, &speedup), true, 0);
	check("speedup of thread 0", speedup, 1.442194, 2e-6);
	pp_occ_speedup(0.591705, 0.363006, repeats, &speedup);
	check("speedup of thread 2", speedup, 2.032524, 4e-6);
	check("benefit of thread 0", pp_occ_benefit(0.373387, 0.289591, repeats), 1 - 1 / 1.442194,
	      1e-6);
	check("a best case", pp_occ_best_case(0.419515, &speedup), true, 0);
	check("best case", speedup, 1.722697, 2e-6);
}

static void test_limits(void)
{
	double speedup = -1;

	check("no holder", pp_occ_p_conflict(0.5, 0), 0, 0);
	check("p is 1", pp_occ_p_conflict(0.5, 2000), 1, 0);
	check("never succeeds", pp_occ_speedup(0.5, 0.1, pp_occ_repeats(0.5, 2000), &speedup), true,
	      0);
	check("speedup 0", speedup, 0, 0);
	check("no benefit", pp_occ_benefit(0.5, 0.1, pp_occ_repeats(0.5, 2000)), 0, 0);
	check("takes no time", pp_occ_speedup(0.5, 0, pp_occ_repeats(0.5, 2000), &speedup), true,
	      0);
	check("speedup 2", speedup, 2, EXACT);
	check("only waits", pp_occ_speedup(1, 0, 0, &speedup), false, 0);
	check("efficiency 1", pp_occ_best_case(1, &speedup), false, 0);
	check("f_release", pp_occ_f_release(30, 2, 400, 0.5), 0.15, EXACT);
	check("f_release beside long waits", pp_occ_f_release(300, 2, 400, 0.9), 0.1, EXACT);
	check("Wait'", pp_occ_wait(1000, 10, 15, 20), 1000 - 20 * (15 + 2 * 10), EXACT);
	check("Wait' below 0", pp_occ_wait(100, 10, 15, 20), 0, 0);
}

int main(void)
{
	sets_of_test = pp_access_sets_new();
	test_sets();
	test_by_hand();
	test_counter();
	test_figure_1();
	test_limits();
	for (unsigned seed = 0; seed < 500; seed += 2)
		test_random(seed);
	check("sets that are left", pp_access_sets_count(sets_of_test), 0, 0);
	/* With memory that is freed; unions of sets are kept for the next time. */
	for (unsigned seed = 1; seed < 500; seed += 2)
		test_random(seed);
	pp_access_sets_free(sets_of_test);
	return n_failed ? 1 : 0;
}
