/* SPDX-License-Identifier: MIT */
/* Finds the range of an address among nested and overlapping ranges; the reference tries each. */
#include "check.h"
#include "symbols/ranges.h"

#define N_RANGES 60
#define SPACE	 200
#define ROUNDS	 200

struct range {
	uint64_t start, end;
};

/* Returns the range that starts last; of these the shortest, of equal ones the first. -1: none. */
static int tried(const struct range *ranges, uint64_t address)
{
	int best = -1;

	for (int i = 0; i < N_RANGES; i++) {
		const struct range *range = &ranges[i], *other = best < 0 ? NULL : &ranges[best];

		if (address < range->start || address >= range->end)
			continue;
		if (!other || range->start > other->start ||
		    (range->start == other->start && range->end < other->end))
			best = i;
	}
	return best;
}

int main(void)
{
	uint64_t random = 1;
	unsigned n_found = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct range all[N_RANGES];
		struct pp_ranges ranges;

		pp_ranges_init(&ranges);
		for (uint32_t i = 0; i < N_RANGES; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			all[i].start = (random >> 33) % SPACE;
			all[i].end = all[i].start + (random >> 45) % (round % 2 ? 4 : 40);
			pp_ranges_add(&ranges, all[i].start, all[i].end, i);
		}
		pp_ranges_sort(&ranges);
		for (uint64_t address = 0; address < SPACE + 50; address++) {
			uint32_t number = 0;
			bool is_found = pp_ranges_find(&ranges, address, &number);

			CHECK_INT(is_found ? (int)number : -1, tried(all, address));
			n_found += is_found;
		}
		pp_ranges_done(&ranges);
	}
	CHECK(n_found > ROUNDS * SPACE / 4);
	return 0;
}
