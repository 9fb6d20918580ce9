/* SPDX-License-Identifier: MIT */
/*
 * Interned sets of accesses, compared with lists that are searched: equal lines are one set as long
 * as it is referenced, whatever their order, and the sets that exist are those with references.
 */
#include "check.h"

#include <string.h>

#include <glib.h>

#include "core/access_set.h"

#define N_HELD	 2500 /* more than the table has buckets at first */
#define N_STEPS	 60000
#define MAX_HELD 24 /* lines of a set: more than are kept in the pool, or sorted in place */

struct held {
	struct pp_access_set *set; /* NULL: none */
	struct pp_access_line lines[MAX_HELD];
	unsigned n;
};

static struct held held[N_HELD];

/* Lines of different addresses in order; few different ones, so that sets repeat. */
static unsigned make_lines(GRand *rand, struct pp_access_line *lines)
{
	unsigned max = g_rand_boolean(rand) ? 3 : MAX_HELD;
	unsigned n = (unsigned)g_rand_int_range(rand, 0, (gint)max + 1);

	for (unsigned i = 0; i < n; i++)
		lines[i] = (struct pp_access_line){
		    .address = 64 * (uint64_t)(i * 3 + (unsigned)g_rand_int_range(rand, 0, 3)),
		    .read = 1 + (uint64_t)g_rand_int_range(rand, 0, 2),
		    .written = (uint64_t)g_rand_int_range(rand, 0, 2) << 63,
		    .last_site = (uint64_t)g_rand_int_range(rand, 1, 3),
		};
	return n;
}

static bool is_same(const struct held *a, const struct pp_access_line *lines, unsigned n)
{
	return a->set && a->n == n && memcmp(a->lines, lines, n * sizeof(lines[0])) == 0;
}

/*
 * Another order, one of its lines in two halves, of which the second one may have no site, and a
 * line without bytes.
 */
static struct pp_access_set *get_mixed(struct pp_access_sets *sets, GRand *rand,
				       const struct pp_access_line *lines, unsigned n)
{
	struct pp_access_line mixed[MAX_HELD + 2];
	unsigned n_mixed = n;

	for (unsigned i = 0; i < n; i++)
		mixed[i] = lines[i];
	if (n && lines[0].written) {
		mixed[n_mixed] = mixed[0];
		mixed[0].written = 0;
		if (g_rand_boolean(rand))
			mixed[0].last_site = 77;
		else
			mixed[n_mixed].last_site = 0;
		mixed[n_mixed++].read = 0;
	}
	for (unsigned i = 1; i < n; i++) { /* the halves stay in their order */
		unsigned k = (unsigned)g_rand_int_range(rand, 1, (gint32)n);
		struct pp_access_line line = mixed[i];

		mixed[i] = mixed[k];
		mixed[k] = line;
	}
	mixed[n_mixed++] = (struct pp_access_line){.address = 64 * 1000};
	return pp_access_set_get(sets, mixed, n_mixed);
}

static void drop(struct held *one)
{
	pp_access_set_unref(one->set);
	one->set = NULL;
}

static void get(struct pp_access_sets *sets, GRand *rand, struct held *one)
{
	static uint64_t last_serial;
	const struct pp_access_set *known = NULL;

	one->n = make_lines(rand, one->lines);
	for (unsigned i = 0; i < N_HELD && !known; i++)
		if (is_same(&held[i], one->lines, one->n))
			known = held[i].set;
	one->set = get_mixed(sets, rand, one->lines, one->n);
	CHECK_INT(one->set->n, one->n);
	CHECK(memcmp(one->set->lines, one->lines, one->n * sizeof(one->lines[0])) == 0);
	if (known)
		CHECK(one->set == known);
	else
		CHECK(one->set->serial > last_serial);
	last_serial = MAX(last_serial, one->set->serial);
}

static unsigned count_different(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < N_HELD; i++) {
		bool is_first = held[i].set != NULL;

		for (unsigned k = 0; k < i && is_first; k++)
			is_first = !is_same(&held[k], held[i].lines, held[i].n);
		n += is_first;
	}
	return n;
}

int main(void)
{
	struct pp_access_sets *sets = pp_access_sets_new();
	GRand *rand = g_rand_new_with_seed(1);

	for (int step = 0; step < N_STEPS; step++) {
		struct held *one = &held[g_rand_int_range(rand, 0, N_HELD)];

		drop(one);
		if (g_rand_int_range(rand, 0, 8))
			get(sets, rand, one);
		if (step % 10000 == 9999)
			CHECK_INT(pp_access_sets_count(sets), count_different());
	}
	CHECK(count_different() > 1024);
	/* The table lives on with its sets. */
	for (unsigned i = 0; i < N_HELD / 2; i++)
		drop(&held[i]);
	pp_access_sets_free(sets);
	for (unsigned i = 0; i < N_HELD; i++)
		drop(&held[i]);
	g_rand_free(rand);
	return 0;
}
