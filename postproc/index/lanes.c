/* SPDX-License-Identifier: MIT */
/*
 * Sums the time in each state between two instants, as the difference of the sums up to each. The
 * sum up to an instant is the sum stored for its stride plus the steps since then.  Strides are
 * few, and those of a lane are adjacent, so an instant reads one page from disk: that of its steps.
 */
#include "index/index.h"

struct lane {
	const struct pp_mapped_array *all_steps;
	const uint64_t *steps;
	uint64_t n;
	uint64_t lead; /* steps in its first page that belong to another lane */
	const struct pp_index_stride *strides;
	uint64_t n_strides;
};

static bool find_lane(const struct pp_index *index, uint64_t number, struct lane *ret)
{
	const struct pp_mapped_array *lanes = &index->sections[PP_SECTION_LANES];
	const struct pp_mapped_array *steps = &index->sections[PP_SECTION_STEPS];
	const struct pp_mapped_array *strides = &index->sections[PP_SECTION_STRIDES];
	const struct pp_index_lane *lane;
	struct pp_read_ahead ahead = pp_read_ahead(strides);

	if (number >= lanes->n)
		return false;
	lane = pp_mapped_array_at(lanes, number);
	if (lane->steps.first >= steps->n || lane->first_stride >= strides->n)
		return false;
	*ret = (struct lane){
	    .all_steps = steps,
	    .steps = pp_mapped_array_at(steps, lane->steps.first),
	    .n = MIN(lane->steps.n, steps->n - lane->steps.first),
	    .lead = lane->steps.first % PP_LANE_STRIDE,
	    .strides = pp_mapped_array_at(strides, lane->first_stride),
	};
	ret->n_strides = MIN(strides->n - lane->first_stride,
			     (ret->lead + ret->n + PP_LANE_STRIDE - 1) / PP_LANE_STRIDE);
	pp_read_ahead_add(&ahead, lane->first_stride, ret->n_strides);
	pp_read_ahead_end(&ahead);
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

/* Returns the number of strides that begin at or before time_ns. */
static uint64_t strides_until(const struct lane *lane, uint64_t time_ns)
{
	uint64_t low = 0, high = lane->n_strides;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (lane->strides[middle].time_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t stride_begin(const struct lane *lane, uint64_t stride)
{
	return stride ? MIN(stride * PP_LANE_STRIDE - lane->lead, lane->n) : 0;
}

static void sum_until(const struct lane *lane, int64_t time_ns, struct pp_index_sum *ret)
{
	uint64_t time = (uint64_t)MAX(time_ns, 0), last_ns, at, end;
	uint64_t n_strides = strides_until(lane, time);
	unsigned state = PP_LANE_GONE;

	*ret = (struct pp_index_sum){0};
	if (!n_strides)
		return;
	*ret = lane->strides[n_strides - 1].before;
	last_ns = lane->strides[n_strides - 1].time_ns;
	at = stride_begin(lane, n_strides - 1);
	end = stride_begin(lane, n_strides);
	for (; at < end && lane->steps[at] >> 3 <= time; at++) {
		ret->ns[state] += (lane->steps[at] >> 3) - last_ns;
		last_ns = lane->steps[at] >> 3;
		state = lane->steps[at] & 7;
	}
	ret->ns[state] += time - last_ns;
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

/* Cannot overflow, for any times. */
static int64_t edge(int64_t from_ns, int64_t to_ns, unsigned at, unsigned n)
{
	int64_t span_ns = to_ns - from_ns;

	return from_ns + span_ns / n * at + span_ns % n * at / n;
}

/* Announces access to the steps at these n + 1 instants. */
static void want_steps(const struct lane *lane, int64_t from_ns, int64_t to_ns, unsigned n)
{
	struct pp_read_ahead ahead = pp_read_ahead(lane->all_steps);
	uint64_t first = (uint64_t)(lane->steps - (const uint64_t *)(void *)lane->all_steps->data);

	for (unsigned i = 0; lane->all_steps->on_disk && i <= n; i++) {
		int64_t time_ns = edge(from_ns, to_ns, i, n);
		uint64_t n_strides = strides_until(lane, (uint64_t)MAX(time_ns, 0));

		if (n_strides)
			pp_read_ahead_add(&ahead, first + stride_begin(lane, n_strides - 1), 1);
	}
	pp_read_ahead_end(&ahead);
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
	want_steps(&lane, from_ns, to_ns, n);
	sum_until(&lane, from_ns, &before);
	for (unsigned i = 0; i < n; i++) {
		sum_until(&lane, edge(from_ns, to_ns, i + 1, n), &until);
		ret[i] = until;
		subtract(&ret[i], &before);
		before = until;
	}
}
