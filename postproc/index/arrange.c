/* SPDX-License-Identifier: MIT */
/* Sorting by counting: how many there are of each, where each begins, and then each to its place.
 */
#include "index/arrange.h"

/* --- lanes ---------------------------------------------------------------------------------- */

static void arrange(struct pp_index *index, const struct pp_pile *log, uint64_t n_lanes)
{
	struct pp_pile *lanes = &index->sections[PP_SECTION_LANES];
	struct pp_pile *steps = &index->sections[PP_SECTION_STEPS];
	const struct pp_logged_step *logged = (const void *)log->data;
	struct pp_index_lane *lane = pp_pile_add(lanes, n_lanes);
	uint64_t first = steps->n, *step = pp_pile_add(steps, log->n);

	for (uint64_t i = 0; i < log->n; i++)
		lane[logged[i].lane].steps.n++;
	for (uint64_t i = 0, at = first; i < n_lanes; i++) {
		lane[i].steps.first = at;
		at += lane[i].steps.n;
		lane[i].steps.n = 0;
	}
	for (uint64_t i = 0; i < log->n; i++) {
		struct pp_index_run *run = &lane[logged[i].lane].steps;

		step[run->first - first + run->n++] = logged[i].step;
	}
}

static void sum_up(struct pp_index *index, struct pp_index_lane *lane)
{
	struct pp_pile *sums = &index->sections[PP_SECTION_SUMS];
	const uint64_t *steps = pp_pile_at(&index->sections[PP_SECTION_STEPS], lane->steps.first);
	struct pp_index_sum sum = {0};

	lane->first_sum = sums->n;
	for (uint64_t i = 0; i < lane->steps.n; i++) {
		if (i)
			sum.ns[steps[i - 1] & 7] += (steps[i] >> 3) - (steps[i - 1] >> 3);
		if (i % PP_LANE_STRIDE == 0)
			*(struct pp_index_sum *)pp_pile_add(sums, 1) = sum;
	}
}

/* What an exec has shown not to be of the thread's life. */
static void forget_before(struct pp_index *index, const struct pp_index_lane *lane,
			  int64_t start_ns)
{
	uint64_t *steps = pp_pile_at(&index->sections[PP_SECTION_STEPS], lane->steps.first);

	for (uint64_t i = 0; i < lane->steps.n && (int64_t)(steps[i] >> 3) < start_ns; i++)
		steps[i] |= PP_LANE_GONE;
}

void pp_index_arrange_lanes(struct pp_index *index, const struct pp_pile *thread_log,
			    const struct pp_pile *object_log)
{
	uint64_t n_threads = pp_index_n(index, PP_SECTION_THREADS);
	const struct pp_pile *lanes = &index->sections[PP_SECTION_LANES];

	arrange(index, thread_log, n_threads);
	arrange(index, object_log, pp_index_n(index, PP_SECTION_OBJECTS));
	for (uint64_t i = 0; i < lanes->n; i++) {
		if (i < n_threads)
			forget_before(index, pp_pile_at(lanes, i),
				      pp_index_thread(index, i)->start_ns);
		sum_up(index, pp_pile_at(lanes, i));
	}
}

/* --- lists ---------------------------------------------------------------------------------- */

/* Which of a list's runs it belongs to; PP_INDEX_NONE: none of them. */
static uint32_t run_of(enum pp_index_list list, const struct pp_index_operation *operation)
{
	bool by_thread = list == PP_LIST_THREAD || list == PP_LIST_THREAD_WAITS;

	if ((list == PP_LIST_THREAD_WAITS || list == PP_LIST_OBJECT_WAITS) &&
	    !(operation->flags & PP_INDEX_WAITED))
		return PP_INDEX_NONE;
	/* What a condition wait does to its mutex is no call of the thread's. */
	if (by_thread && operation->flags & (PP_INDEX_REGAINED | PP_INDEX_YIELDED))
		return PP_INDEX_NONE;
	return by_thread ? operation->thread : operation->object;
}

/* Only what never returned is out of order, so little has to move. */
static void sort_by_time(const struct pp_index *index, uint32_t *items, uint64_t n)
{
	const struct pp_index_operation *all =
	    (const void *)index->sections[PP_SECTION_OPERATIONS].data;

	for (uint64_t i = 1; i < n; i++) {
		uint32_t item = items[i];
		uint64_t at = i;

		for (; at > 0 && all[items[at - 1]].time_ns > all[item].time_ns; at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

static void arrange_list(struct pp_index *index, enum pp_index_list list)
{
	bool by_thread = list == PP_LIST_THREAD || list == PP_LIST_THREAD_WAITS;
	uint64_t n_runs = pp_index_n(index, by_thread ? PP_SECTION_THREADS : PP_SECTION_OBJECTS);
	struct pp_index_run *runs = pp_pile_add(&index->sections[PP_SECTION_RUNS + list], n_runs);
	const struct pp_pile *operations = &index->sections[PP_SECTION_OPERATIONS];
	const struct pp_index_operation *all = (const void *)operations->data;
	uint64_t n = 0;
	uint32_t *items;

	for (uint64_t i = 0; i < operations->n; i++) {
		uint32_t run = run_of(list, &all[i]);

		if (run != PP_INDEX_NONE)
			runs[run].n++;
	}
	for (uint64_t i = 0; i < n_runs; i++) {
		runs[i].first = n;
		n += runs[i].n;
		runs[i].n = 0;
	}
	items = pp_pile_add(&index->sections[PP_SECTION_ITEMS + list], n);
	for (uint64_t i = 0; i < operations->n; i++) {
		uint32_t run = run_of(list, &all[i]);

		if (run != PP_INDEX_NONE)
			items[runs[run].first + runs[run].n++] = (uint32_t)i;
	}
	for (uint64_t i = 0; i < n_runs; i++)
		sort_by_time(index, items + runs[i].first, runs[i].n);
}

void pp_index_arrange_lists(struct pp_index *index)
{
	for (unsigned list = 0; list < PP_N_LISTS; list++)
		arrange_list(index, list);
}
