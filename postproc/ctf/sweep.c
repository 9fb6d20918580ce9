/* SPDX-License-Identifier: MIT */
/* A binary heap of feeds by the time of their next event. */
#include "ctf/sweep.h"

/* Events between two calls of go_on(): some milliseconds. */
#define ASK_EVENTS 20000

static bool is_before(const struct pp_feed *a, const struct pp_feed *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static void sift_down(struct pp_sweep *sweep, unsigned at)
{
	struct pp_feed *feed = sweep->heap[at];

	for (;;) {
		unsigned child = 2 * at + 1;

		if (child >= sweep->n_heap)
			break;
		if (child + 1 < sweep->n_heap &&
		    is_before(sweep->heap[child + 1], sweep->heap[child]))
			child++;
		if (is_before(feed, sweep->heap[child]))
			break;
		sweep->heap[at] = sweep->heap[child];
		at = child;
	}
	sweep->heap[at] = feed;
}

/* A live capture is read up to one instant, by readers that do not know it, too. */
static bool advance(const struct pp_sweep *sweep, struct pp_feed *feed)
{
	const struct pp_capture *capture = sweep->decoder.capture;

	return feed->advance(feed) && (!capture || feed->time_ns <= capture->model->until_ns);
}

void pp_sweep_add(struct pp_sweep *sweep, struct pp_feed *feed)
{
	if (!advance(sweep, feed))
		return;
	if (sweep->n_heap == sweep->max_heap) {
		sweep->max_heap = MAX(16, 2 * sweep->max_heap);
		sweep->heap = g_renew(struct pp_feed *, sweep->heap, sweep->max_heap);
	}
	sweep->heap[sweep->n_heap++] = feed;
}

void pp_sweep_start(struct pp_sweep *sweep)
{
	for (unsigned i = sweep->n_heap / 2; i-- > 0;)
		sift_down(sweep, i);
}

/* The first feed of the heap has moved to another event, or has none left. */
static void go_on(struct pp_sweep *sweep, bool has_event)
{
	if (!has_event)
		sweep->heap[0] = sweep->heap[--sweep->n_heap];
	if (sweep->n_heap)
		sift_down(sweep, 0);
}

bool pp_sweep_until(struct pp_sweep *sweep, int64_t until_ns, uint64_t n_max)
{
	while (sweep->n_heap && sweep->heap[0]->time_ns <= until_ns) {
		struct pp_feed *feed = sweep->heap[0];
		bool has_event = true;

		if (!n_max)
			return true;
		for (; has_event && n_max && feed->time_ns <= until_ns; n_max--) {
			feed->emit(feed);
			has_event = feed->advance(feed);
		}
		go_on(sweep, has_event);
	}
	return false;
}

bool pp_sweep_run(struct pp_sweep *sweep, uint64_t n_max)
{
	for (uint64_t i = 0; i < n_max && sweep->n_heap; i++) {
		struct pp_feed *feed = sweep->heap[0];

		if (sweep->go_on && sweep->n_until_asked-- == 0) {
			sweep->n_until_asked = ASK_EVENTS;
			sweep->stopped = !sweep->go_on(sweep->decoder.data);
			if (sweep->stopped)
				return false;
		}
		if (sweep->before)
			sweep->before(sweep->before_data, feed->time_ns);
		feed->emit(feed);
		go_on(sweep, advance(sweep, feed));
	}
	return sweep->n_heap > 0;
}
