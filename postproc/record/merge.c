/* SPDX-License-Identifier: MIT */
/* One sorted queue for each CPU, and a heap of their first records. */
#include "record/merge.h"

#include <string.h>

#include <glib.h>

void pp_merge_init(struct pp_merge *merge, unsigned n_queues)
{
	merge->queues = g_new0(struct pp_queue, n_queues);
	merge->n_queues = n_queues;
	merge->heap = g_new0(unsigned, n_queues);
	merge->n_heap = 0;
}

void pp_merge_done(struct pp_merge *merge)
{
	for (unsigned i = 0; i < merge->n_queues; i++) {
		struct pp_queue *queue = &merge->queues[i];

		for (size_t k = queue->first; k < queue->end; k++)
			g_free(queue->events[k].filename);
		g_free(queue->events);
	}
	g_clear_pointer(&merge->queues, g_free);
	g_clear_pointer(&merge->heap, g_free);
	merge->n_queues = 0;
}

static void make_room(struct pp_queue *queue)
{
	if (queue->end < queue->room)
		return;
	if (queue->first >= queue->room / 2 && queue->first) {
		memmove(queue->events, queue->events + queue->first,
			(queue->end - queue->first) * sizeof(*queue->events));
		queue->end -= queue->first;
		queue->first = 0;
		return;
	}
	queue->room = MAX(1024, queue->room * 2);
	queue->events = g_renew(struct pp_kevent, queue->events, queue->room);
}

void pp_merge_add(struct pp_merge *merge, unsigned index, const struct pp_kevent *event)
{
	struct pp_queue *queue = &merge->queues[index];
	size_t at;

	make_room(queue);
	for (at = queue->end; at > queue->first; at--) {
		if (queue->events[at - 1].time_ns <= event->time_ns)
			break;
		queue->events[at] = queue->events[at - 1];
	}
	queue->events[at] = *event;
	queue->end++;
}

static uint64_t head_time(const struct pp_merge *merge, unsigned at)
{
	const struct pp_queue *queue = &merge->queues[merge->heap[at]];

	return queue->events[queue->first].time_ns;
}

static void sift_down(struct pp_merge *merge, unsigned at)
{
	for (;;) {
		unsigned least = at, child = 2 * at + 1, moved;

		if (child < merge->n_heap && head_time(merge, child) < head_time(merge, least))
			least = child;
		if (child + 1 < merge->n_heap &&
		    head_time(merge, child + 1) < head_time(merge, least))
			least = child + 1;
		if (least == at)
			return;
		moved = merge->heap[at];
		merge->heap[at] = merge->heap[least];
		merge->heap[least] = moved;
		at = least;
	}
}

void pp_merge_emit(struct pp_merge *merge, uint64_t horizon_ns,
		   void (*emit)(void *data, unsigned queue, struct pp_kevent *event), void *data)
{
	merge->n_heap = 0;
	for (unsigned i = 0; i < merge->n_queues; i++)
		if (merge->queues[i].first < merge->queues[i].end)
			merge->heap[merge->n_heap++] = i;
	for (unsigned at = merge->n_heap / 2; at-- > 0;)
		sift_down(merge, at);
	while (merge->n_heap && head_time(merge, 0) < horizon_ns) {
		struct pp_queue *queue = &merge->queues[merge->heap[0]];
		struct pp_kevent *event = &queue->events[queue->first++];

		emit(data, merge->heap[0], event);
		g_clear_pointer(&event->filename, g_free);
		if (queue->first == queue->end) {
			queue->first = queue->end = 0;
			merge->heap[0] = merge->heap[--merge->n_heap];
		}
		sift_down(merge, 0);
	}
}
