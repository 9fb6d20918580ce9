/* SPDX-License-Identifier: MIT */
/* Finds the last unused time before another: as a linear search does, and fast for many times. */
#include "check.h"

#include <stdbool.h>

#include "core/latest_before.h"

#define FEW  40
#define MANY 1000000 /* each later than all before: a linear search would take 10^12 steps */

static int slowly(const uint64_t *times, bool *taken, uint64_t time_ns)
{
	int found = -1;

	for (int i = 0; i < FEW; i++)
		if (!taken[i] && times[i] <= time_ns && (found < 0 || times[i] >= times[found]))
			found = i;
	if (found >= 0)
		taken[found] = true;
	return found;
}

static void test_as_slowly(unsigned seed)
{
	struct pp_latest *latest = pp_latest_new();
	uint64_t times[FEW];
	bool taken[FEW] = {false};
	GRand *rand = g_rand_new_with_seed(seed);

	for (int i = 0; i < FEW; i++) {
		times[i] = (uint64_t)g_rand_int_range(rand, 5, 30);
		pp_latest_add(latest, times[i], i);
	}
	for (int i = 0; i < 2 * FEW; i++) {
		uint64_t time_ns = (uint64_t)g_rand_int_range(rand, 0, 35);

		CHECK_INT(pp_latest_take(latest, time_ns), slowly(times, taken, time_ns));
	}
	g_rand_free(rand);
	pp_latest_free(latest);
}

static void test_none(void)
{
	struct pp_latest *latest = pp_latest_new();

	CHECK_INT(pp_latest_take(latest, UINT64_MAX), -1);
	pp_latest_free(latest);
}

static void test_many(void)
{
	struct pp_latest *latest = pp_latest_new();

	for (int i = 0; i < MANY; i++)
		pp_latest_add(latest, (uint64_t)i, i);
	for (int i = MANY; i-- > 0;)
		CHECK_INT(pp_latest_take(latest, UINT64_MAX), i);
	CHECK_INT(pp_latest_take(latest, UINT64_MAX), -1);
	pp_latest_free(latest);
}

int main(void)
{
	for (unsigned seed = 0; seed < 200; seed++)
		test_as_slowly(seed);
	test_none();
	test_many();
	return 0;
}
