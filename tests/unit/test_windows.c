/* SPDX-License-Identifier: MIT */
/* Windows of a capture's time: where they are, and the parts of intervals in them. */
#include "check.h"

#include <math.h>
#include <string.h>

#include <glib.h>

#include "core/windows.h"

#define FROM_NS 1000000
#define TO_NS	9000000

/* Nanosecond by nanosecond, as pp_windows_part_ns() adds them up. */
static int64_t count(const struct pp_windows *windows, int64_t start_ns, int64_t end_ns)
{
	int64_t sum_ns = 0;

	for (int64_t at = start_ns; at < end_ns; at++)
		for (unsigned i = 0; i < windows->n; i++)
			sum_ns +=
			    at >= windows->from_ns[i] && at < windows->from_ns[i] + windows->len_ns;
	return sum_ns;
}

static void test_places(void)
{
	struct pp_windows windows;

	pp_windows_init(&windows, 8, FROM_NS, TO_NS, 1000);
	for (unsigned i = 0; i < 8; i++) {
		CHECK(windows.from_ns[i] >= FROM_NS + i * 1000000);
		CHECK(windows.from_ns[i] + 1000 <= FROM_NS + (i + 1) * 1000000);
	}
	CHECK(windows.from_ns[1] - windows.from_ns[0] != windows.from_ns[2] - windows.from_ns[1]);
	CHECK_INT(pp_windows_factor(&windows), 1000);
	pp_windows_done(&windows);
}

static void test_parts(void)
{
	struct pp_windows windows;

	pp_windows_init(&windows, 8, FROM_NS, TO_NS, 300);
	for (unsigned i = 0; i < 8; i++) {
		int64_t from_ns = windows.from_ns[i];

		/* In either direction, since the last result is remembered. */
		for (int64_t offset = -310; offset < 310; offset += 31) {
			int64_t start_ns = from_ns + offset, other_ns = from_ns - offset;

			CHECK_INT(pp_windows_part_ns(&windows, start_ns, start_ns + 100),
				  count(&windows, start_ns, start_ns + 100));
			CHECK_INT(pp_windows_part_ns(&windows, other_ns, other_ns + 700),
				  count(&windows, other_ns, other_ns + 700));
		}
		CHECK_INT(pp_windows_after(&windows, from_ns + 299), i);
		CHECK_INT(pp_windows_after(&windows, from_ns + 300), i + 1);
	}
	CHECK_INT(pp_windows_part_ns(&windows, 0, INT64_MAX), 8 * 300);
	CHECK_INT(pp_windows_part_ns(&windows, TO_NS, INT64_MAX), 0);
	pp_windows_done(&windows);
}

/* The longest run of nanoseconds without a window. */
static int64_t longest_gap(const struct pp_windows *windows, int64_t to_ns)
{
	int64_t gap_ns = 0, longest_ns = 0;

	for (int64_t at = FROM_NS; at < to_ns; at++) {
		gap_ns = count(windows, at, at + 1) ? 0 : gap_ns + 1;
		longest_ns = MAX(longest_ns, gap_ns);
	}
	return longest_ns;
}

static void test_gap(void)
{
	struct pp_windows windows;

	for (unsigned n = 1; n <= 8; n *= 2) {
		pp_windows_init(&windows, n, FROM_NS, TO_NS, 1000);
		CHECK_INT(pp_windows_gap_ns(&windows), longest_gap(&windows, TO_NS));
		pp_windows_cut(&windows, FROM_NS, 6000000);
		CHECK_INT(pp_windows_gap_ns(&windows), longest_gap(&windows, 6000000));
		pp_windows_done(&windows);
	}
}

/* Whole stretches: nothing is left out, nothing counts twice. */
static void test_all(void)
{
	struct pp_windows windows;

	pp_windows_init(&windows, 8, FROM_NS, TO_NS, 1000000);
	CHECK_INT(pp_windows_part_ns(&windows, FROM_NS, TO_NS), TO_NS - FROM_NS);
	CHECK_INT(pp_windows_factor(&windows), 1);
	pp_windows_done(&windows);
}

static void test_cut(void)
{
	struct pp_windows windows;

	pp_windows_init(&windows, 8, FROM_NS, TO_NS, 1000);
	pp_windows_cut(&windows, FROM_NS, windows.from_ns[3] + 999);
	CHECK_INT(windows.n, 3);
	CHECK_INT(windows.span_ns, windows.from_ns[3] + 999 - FROM_NS);
	CHECK_INT(pp_windows_after(&windows, TO_NS), 3);
	pp_windows_cut(&windows, FROM_NS, FROM_NS);
	CHECK_INT(windows.n, 0);
	CHECK_INT(pp_windows_factor(&windows), 0);
	pp_windows_done(&windows);
}

/* --- estimates -------------------------------------------------------------------------------- */

#define CAPTURES 200u
#define N	 64

/* Waits of a generated capture: at most so many, and so long, compared with a window's stretch. */
struct waits {
	unsigned n_max;
	double shortest, longest;
};

/* Waits at random places; returns their sum, and in each window. */
static int64_t generate(GRand *random, const struct waits *kind, struct pp_windows *windows,
			int64_t *parts)
{
	double stretch_ns = (double)(TO_NS - FROM_NS) / windows->n;
	unsigned n = (unsigned)g_rand_int_range(random, 1, (gint32)kind->n_max + 1);
	int64_t sum_ns = 0;

	memset(parts, 0, windows->n * sizeof(*parts));
	for (unsigned i = 0; i < n; i++) {
		double length =
		    g_rand_double_range(random, log(kind->shortest), log(kind->longest));
		int64_t start_ns = (int64_t)g_rand_double_range(random, FROM_NS, TO_NS);
		int64_t end_ns = MIN(start_ns + (int64_t)(exp(length) * stretch_ns), TO_NS);

		sum_ns += end_ns - start_ns;
		for (unsigned k = 0; k < windows->n; k++)
			parts[k] += pp_window_part_ns(windows, k, start_ns, end_ns);
	}
	return sum_ns;
}

/* 95 % of the estimates from 200 captures differ from the true sum by less than their error. */
static void check_errors(const struct waits *kind, double part, double *ret_mean_error)
{
	GRand *random = g_rand_new_with_seed(1);
	unsigned n_right = 0, n_seen = 0;
	int64_t parts[N], len_ns = (int64_t)(part * (TO_NS - FROM_NS) / N);
	struct pp_windows windows;

	*ret_mean_error = 0;
	pp_windows_init(&windows, N, FROM_NS, TO_NS, len_ns);
	while (n_seen < CAPTURES) {
		double sum_ns = (double)generate(random, kind, &windows, parts), seen_ns = 0,
		       error_ns;

		for (unsigned i = 0; i < N; i++)
			seen_ns += (double)parts[i];
		if (seen_ns == 0)
			continue;
		n_seen++;
		seen_ns *= pp_windows_factor(&windows);
		error_ns = pp_windows_error(&windows, parts);
		n_right += fabs(seen_ns - sum_ns) <= error_ns;
		*ret_mean_error += error_ns / seen_ns / CAPTURES;
	}
	if (n_right * 100 < CAPTURES * 95)
		fprintf(
		    stderr,
		    "%u of %u within the error: up to %u waits of %g to %g stretches, %g %% read\n",
		    n_right, CAPTURES, kind->n_max, kind->shortest, kind->longest, 100 * part);
	CHECK(n_right * 100 >= CAPTURES * 95);
	pp_windows_done(&windows);
	g_rand_free(random);
}

static void test_errors(void)
{
	static const struct waits kinds[] = {
	    {1, 1, 20},	     {3, 0.05, 5},  {10, 0.1, 1},
	    {20, 0.02, 0.2}, {50, 0.02, 5}, {100, 0.01, 0.1},
	};
	static const double parts[] = {0.02, 0.1, 0.3};
	static const struct waits many = {2000, 0.01, 0.02};
	double few_error = 0, many_error = 0;

	for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++)
		for (unsigned k = 0; k < G_N_ELEMENTS(parts); k++)
			check_errors(&kinds[i], parts[k], &few_error);
	/* It is no larger than needed. */
	check_errors(&many, 0.1, &many_error);
	CHECK(many_error < 0.5 * few_error);
}

int main(void)
{
	test_errors();
	test_places();
	test_parts();
	test_gap();
	test_all();
	test_cut();
	return 0;
}
