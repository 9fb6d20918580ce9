/* SPDX-License-Identifier: MIT */
/*
 * Counting sort: counts the items of each lane, computes where each lane begins, then moves each
 * item to its position.
 */
#include "index/arrange.h"

#include "index/edges.h"

/* The amount of work, in items visited. */
struct work {
	const struct pp_index *index;
	const struct pp_index_progress *progress; /* NULL: no progress is reported */
	uint64_t done, all;
	bool stopped;
};

#define ITEMS_UNTIL_ASKED 0x40000 /* 1 to 3 ms */

static inline bool go_on(struct work *work)
{
	if (++work->done % ITEMS_UNTIL_ASKED)
		return !work->stopped;
	pp_index_release(work->index);
	if (work->progress)
		work->stopped = !work->progress->go_on(work->progress->data,
						       (double)work->done / (double)work->all);
	return !work->stopped;
}

/* Starts an empty run where the previous one ends.  Returns the number of items before the run. */
static uint64_t begin_run(struct pp_index_run *run, uint64_t at)
{
	uint64_t n = run->n;

	*run = (struct pp_index_run){at, 0};
	return at + n;
}

/* --- lanes ---------------------------------------------------------------------------------- */

/* `last`: the previous step of the lane; NULL: none. */
static uint64_t step_of(const struct pp_index *index, uint64_t logged, const uint64_t *last)
{
	uint64_t end_ns = (uint64_t)index->end_ns;

	if (logged >> 3 != PP_LOGGED_AT_END)
		return logged;
	return (last ? MAX(*last >> 3, end_ns) : end_ns) << 3 | (logged & 7);
}

static void arrange(struct pp_index *index, const struct pp_mapped_array *log, uint64_t n_lanes,
		    struct work *work)
{
	struct pp_mapped_array *lanes = &index->sections[PP_SECTION_LANES];
	struct pp_mapped_array *steps = &index->sections[PP_SECTION_STEPS];
	const struct pp_logged_step *logged = (const void *)log->data;
	struct pp_index_lane *lane = pp_mapped_array_add(lanes, n_lanes);
	uint64_t at = steps->n;
	uint64_t *step;

	for (uint64_t i = 0; i < log->n && go_on(work); i++)
		lane[logged[i].lane].steps.n++;
	for (uint64_t i = 0; i < n_lanes; i++)
		at = begin_run(&lane[i].steps, at);
	pp_mapped_array_add(steps, log->n);
	step = (void *)steps->data;
	for (uint64_t i = 0; i < log->n && go_on(work); i++) {
		struct pp_index_run *run = &lane[logged[i].lane].steps;

		uint64_t *next = &step[run->first + run->n];

		*next = step_of(index, logged[i].step, run->n ? next - 1 : NULL);
		run->n++;
	}
}

static void sum_up(struct pp_index *index, struct pp_index_lane *lane, struct work *work)
{
	struct pp_mapped_array *strides = &index->sections[PP_SECTION_STRIDES];
	const uint64_t *steps =
	    pp_mapped_array_at(&index->sections[PP_SECTION_STEPS], lane->steps.first);
	struct pp_index_sum sum = {0};

	lane->first_stride = strides->n;
	for (uint64_t i = 0; i < lane->steps.n && go_on(work); i++) {
		if (i)
			sum.ns[steps[i - 1] & 7] += (steps[i] >> 3) - (steps[i - 1] >> 3);
		if (i == 0 || (lane->steps.first + i) % PP_LANE_STRIDE == 0)
			*(struct pp_index_stride *)pp_mapped_array_add(strides, 1) =
			    (struct pp_index_stride){steps[i] >> 3, sum};
	}
}

/* Clears the states before an exec that the thread's life does not include. */
static void forget_before(struct pp_index *index, const struct pp_index_lane *lane,
			  int64_t start_ns)
{
	uint64_t *steps = pp_mapped_array_at(&index->sections[PP_SECTION_STEPS], lane->steps.first);

	for (uint64_t i = 0; i < lane->steps.n && (int64_t)(steps[i] >> 3) < start_ns; i++)
		steps[i] |= PP_LANE_GONE;
}

static void arrange_lanes(struct pp_index *index, const struct pp_mapped_array *thread_log,
			  const struct pp_mapped_array *object_log, struct work *work)
{
	uint64_t n_threads = pp_index_n(index, PP_SECTION_THREADS);
	const struct pp_mapped_array *lanes = &index->sections[PP_SECTION_LANES];

	arrange(index, thread_log, n_threads, work);
	arrange(index, object_log, pp_index_n(index, PP_SECTION_OBJECTS), work);
	for (uint64_t i = 0; i < lanes->n && !work->stopped; i++) {
		if (i < n_threads)
			forget_before(index, pp_mapped_array_at(lanes, i),
				      pp_index_thread(index, i)->start_ns);
		sum_up(index, pp_mapped_array_at(lanes, i), work);
	}
}

/* --- lists ---------------------------------------------------------------------------------- */

/* Returns the run of a list to which the operation belongs; PP_INDEX_NONE: none. */
static uint32_t run_of(enum pp_index_list list, const struct pp_index_operation *operation)
{
	bool by_thread = list == PP_LIST_THREAD || list == PP_LIST_THREAD_WAITS;

	if ((list == PP_LIST_THREAD_WAITS || list == PP_LIST_OBJECT_WAITS) &&
	    !(operation->flags & PP_INDEX_WAITED))
		return PP_INDEX_NONE;
	/* A condition wait's release and reacquisition of its mutex are not calls of the thread. */
	if (by_thread && operation->flags & (PP_INDEX_REGAINED | PP_INDEX_YIELDED))
		return PP_INDEX_NONE;
	return by_thread ? operation->thread : operation->object;
}

struct list {
	struct pp_index_run *runs;
	uint64_t n_runs;
	uint32_t *items;
};

/*
 * Appends an operation to its run.  If it is late, which means that an earlier number has a later
 * time, it moves to its position.  Only operations that never returned and releases by condition
 * waits are late; no other reads the operations before it, which may be far apart in the file.
 */
static void append(const struct list *list, uint32_t run, uint32_t item, bool is_late,
		   const struct pp_index_operation *all)
{
	uint32_t *items = list->items + list->runs[run].first;
	uint64_t at = list->runs[run].n++;

	for (; is_late && at > 0 && all[items[at - 1]].time_ns > all[item].time_ns; at--)
		items[at] = items[at - 1];
	items[at] = item;
}

/* Computes where each run begins, after the lengths are known. */
static void begin_runs(struct pp_index *index, struct list *lists)
{
	for (unsigned i = 0; i < PP_N_LISTS; i++) {
		uint64_t n = 0;

		for (uint64_t j = 0; j < lists[i].n_runs; j++)
			n = begin_run(&lists[i].runs[j], n);
		lists[i].items = pp_mapped_array_add(&index->sections[PP_SECTION_ITEMS + i], n);
	}
}

static void arrange_lists(struct pp_index *index, struct work *work)
{
	static const enum pp_section of[PP_N_LISTS] = {PP_SECTION_THREADS, PP_SECTION_THREADS,
						       PP_SECTION_OBJECTS, PP_SECTION_OBJECTS};
	const struct pp_mapped_array *operations = &index->sections[PP_SECTION_OPERATIONS];
	const struct pp_index_operation *all = (const void *)operations->data;
	struct list lists[PP_N_LISTS];
	uint64_t latest_ns = 0;
	uint32_t run;

	for (unsigned i = 0; i < PP_N_LISTS; i++) {
		lists[i].n_runs = pp_index_n(index, of[i]);
		lists[i].runs =
		    pp_mapped_array_add(&index->sections[PP_SECTION_RUNS + i], lists[i].n_runs);
	}
	for (uint64_t i = 0; i < operations->n && go_on(work); i++)
		for (unsigned j = 0; j < PP_N_LISTS; j++)
			if ((run = run_of(j, &all[i])) != PP_INDEX_NONE)
				lists[j].runs[run].n++;
	begin_runs(index, lists);
	for (uint64_t i = 0; i < operations->n && go_on(work); i++) {
		bool is_late = all[i].time_ns < latest_ns;

		latest_ns = MAX(latest_ns, all[i].time_ns);
		for (unsigned j = 0; j < PP_N_LISTS; j++)
			if ((run = run_of(j, &all[i])) != PP_INDEX_NONE)
				append(&lists[j], run, (uint32_t)i, is_late, all);
	}
}

static bool goes_on(void *work)
{
	return go_on(work);
}

bool pp_index_arrange(struct pp_index *index, const struct pp_mapped_array *thread_log,
		      const struct pp_mapped_array *object_log,
		      const struct pp_index_progress *progress)
{
	uint64_t n_steps = thread_log->n + object_log->n;
	struct work work = {
	    .index = index,
	    .progress = progress,
	    .all = 1 + 3 * n_steps + 2 * pp_index_n(index, PP_SECTION_OPERATIONS) +
		   pp_index_n(index, PP_SECTION_MORE),
	};

	arrange_lanes(index, thread_log, object_log, &work);
	if (!work.stopped)
		arrange_lists(index, &work);
	return !work.stopped && pp_index_add_edges(index, goes_on, &work);
}
