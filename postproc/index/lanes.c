/* SPDX-License-Identifier: MIT */
/*
 * How long something was in each state, between any two instants: what it was up to the one less
 * what it was up to the other.  Up to an instant is the sum at the last stride before it, and the
 * few steps since.  The stride is looked for among the marks, which are few enough to stay in
 * memory: so an instant takes two other pages, that of the sum and that of the steps.
 */
#include "index/index.h"

struct lane {
	const uint64_t *steps;
	uint64_t n;
	const struct pp_index_sum *sums;
	const uint64_t *marks;
	uint64_t n_sums; /* and marks */
};

static bool find_lane(const struct pp_index *index, uint64_t number, struct lane *ret)
{
	const struct pp_pile *lanes = &index->sections[PP_SECTION_LANES];
	const struct pp_pile *steps = &index->sections[PP_SECTION_STEPS];
	const struct pp_pile *sums = &index->sections[PP_SECTION_SUMS];
	const struct pp_pile *marks = &index->sections[PP_SECTION_MARKS];
	const struct pp_index_lane *lane;

	if (number >= lanes->n)
		return false;
	lane = pp_pile_at(lanes, number);
	if (lane->steps.first >= steps->n || lane->first_sum >= MIN(sums->n, marks->n))
		return false;
	ret->steps = pp_pile_at(steps, lane->steps.first);
	ret->n = MIN(lane->steps.n, steps->n - lane->steps.first);
	ret->sums = pp_pile_at(sums, lane->first_sum);
	ret->marks = pp_pile_at(marks, lane->first_sum);
	ret->n_sums = MIN(MIN(sums->n, marks->n) - lane->first_sum,
			  (ret->n + PP_LANE_STRIDE - 1) / PP_LANE_STRIDE);
	return ret->n > 0;
}

uint64_t pp_index_steps(const struct pp_index *index, uint64_t number, const uint64_t **ret)
{
	struct lane lane;

	if (!find_lane(index, number, &lane))
		return 0;
	*ret = lane.steps;
	return lane.n;
}

/* How many of them, in order of time, are at or before it. */
static uint64_t count_until(const uint64_t *times, uint64_t n, unsigned shift, uint64_t time_ns)
{
	uint64_t low = 0, high = n;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (times[middle] >> shift <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How many steps there are at or before time_ns. */
static uint64_t steps_until(const struct lane *lane, uint64_t time_ns)
{
	uint64_t n_marks = count_until(lane->marks, lane->n_sums, 0, time_ns);
	uint64_t first = n_marks ? (n_marks - 1) * PP_LANE_STRIDE : 0;

	return n_marks ? first + count_until(lane->steps + first,
					     MIN(lane->n - first, PP_LANE_STRIDE), 3, time_ns)
		       : 0;
}

static void sum_until(const struct lane *lane, int64_t time_ns, struct pp_index_sum *ret)
{
	uint64_t time = (uint64_t)MAX(time_ns, 0);
	uint64_t n = steps_until(lane, time), at;

	*ret = (struct pp_index_sum){0};
	if (!n)
		return;
	at = (n - 1) / PP_LANE_STRIDE;
	if (at < lane->n_sums)
		*ret = lane->sums[at];
	for (at *= PP_LANE_STRIDE; at < n; at++) {
		uint64_t end = at + 1 < n ? lane->steps[at + 1] >> 3 : time;

		ret->ns[lane->steps[at] & 7] += end - (lane->steps[at] >> 3);
	}
}

static void subtract(struct pp_index_sum *from, const struct pp_index_sum *what)
{
	for (unsigned i = 0; i < PP_LANE_STATES; i++)
		from->ns[i] -= MIN(from->ns[i], what->ns[i]);
}

void pp_index_shares(const struct pp_index *index, uint64_t number, int64_t from_ns, int64_t to_ns,
		     struct pp_index_sum *ret)
{
	pp_index_cells(index, number, from_ns, to_ns, 1, ret);
}

/* Without overflow, whatever the times. */
static int64_t edge(int64_t from_ns, int64_t to_ns, unsigned at, unsigned n)
{
	int64_t span_ns = to_ns - from_ns;

	return from_ns + span_ns / n * at + span_ns % n * at / n;
}

void pp_index_cells(const struct pp_index *index, uint64_t number, int64_t from_ns, int64_t to_ns,
		    unsigned n, struct pp_index_sum *ret)
{
	struct lane lane;
	struct pp_index_sum before, until;

	if (!find_lane(index, number, &lane)) {
		for (unsigned i = 0; i < n; i++)
			ret[i] = (struct pp_index_sum){0};
		return;
	}
	sum_until(&lane, from_ns, &before);
	for (unsigned i = 0; i < n; i++) {
		sum_until(&lane, edge(from_ns, to_ns, i + 1, n), &until);
		ret[i] = until;
		subtract(&ret[i], &before);
		before = until;
	}
}
