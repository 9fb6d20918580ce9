/* SPDX-License-Identifier: MIT */
/* Records of three CPUs, slightly out of order, are sorted; none after the horizon is returned. */
#include "check.h"

#include "record/merge.h"

#define N_QUEUES 3
#define N_EVENTS 30000

static uint64_t last_ns, horizon_ns, seen, sum;

static void take(void *data, unsigned queue, struct pp_kevent *event)
{
	(void)data;
	CHECK(event->time_ns >= last_ns);
	CHECK(event->time_ns < horizon_ns);
	CHECK_INT(event->cpu, queue);
	last_ns = event->time_ns;
	seen++;
	sum += event->tid;
}

static uint32_t pseudo_random(void)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return state >> 8;
}

int main(void)
{
	struct pp_merge merge;
	uint64_t now_ns[N_QUEUES] = {1000, 1000, 1000}, expected = 0;

	pp_merge_init(&merge, N_QUEUES);
	for (int i = 0; i < N_EVENTS; i++) {
		unsigned queue = pseudo_random() % N_QUEUES;
		/*
		 * The clock steps back by up to 20 ns, but not before the horizon of released
		 * records.
		 */
		struct pp_kevent event = {.time_ns = now_ns[queue] - pseudo_random() % 20,
					  .cpu = (int32_t)queue,
					  .tid = i};

		now_ns[queue] += pseudo_random() % 100;
		expected += (uint64_t)i;
		pp_merge_add(&merge, queue, &event);
		if (i % 1000 == 999) {
			horizon_ns = UINT64_MAX;
			for (unsigned k = 0; k < N_QUEUES; k++)
				if (now_ns[k] - 20 < horizon_ns)
					horizon_ns = now_ns[k] - 20;
			pp_merge_emit(&merge, horizon_ns, take, NULL);
		}
	}
	CHECK(seen > N_EVENTS / 2 && seen < N_EVENTS);
	horizon_ns = UINT64_MAX;
	pp_merge_emit(&merge, horizon_ns, take, NULL);
	CHECK_INT(seen, N_EVENTS);
	CHECK_INT(sum, expected);
	pp_merge_done(&merge);
	return 0;
}
