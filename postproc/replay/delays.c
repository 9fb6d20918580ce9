/* SPDX-License-Identifier: MIT */
/*
 * All begins and ends in order of time add up to the delay that a thread would have that is always
 * ready; that of an interval is the difference of two such sums.
 */
#include "replay/delays.h"

#include <stdlib.h>

#define NO_DELAY UINT32_MAX

/* The number of threads that run, or are ready, changes. */
struct change {
	int64_t at_ns;
	int8_t running, ready;
	uint32_t delay; /* that begins or ends; NO_DELAY: none */
};

struct pp_replay_delays {
	GArray *changes; /* of struct change */
	GArray *all;	 /* of struct pp_replay_delay, with serials of threads */
};

struct pp_replay_delays *pp_replay_delays_new(void)
{
	struct pp_replay_delays *self = g_new(struct pp_replay_delays, 1);

	self->changes = g_array_new(FALSE, FALSE, sizeof(struct change));
	self->all = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_delay));
	return self;
}

void pp_replay_delays_free(struct pp_replay_delays *self)
{
	g_array_unref(self->changes);
	g_array_unref(self->all);
	g_free(self);
}

static void add(struct pp_replay_delays *self, int64_t start_ns, int64_t end_ns,
		struct change change)
{
	change.at_ns = start_ns;
	g_array_append_val(self->changes, change);
	change.at_ns = end_ns;
	change.running = (int8_t)-change.running;
	change.ready = (int8_t)-change.ready;
	g_array_append_val(self->changes, change);
}

void pp_replay_delays_run(struct pp_replay_delays *self, int64_t start_ns, int64_t end_ns)
{
	add(self, start_ns, end_ns, (struct change){.running = 1, .delay = NO_DELAY});
}

void pp_replay_delays_ready(struct pp_replay_delays *self, int64_t start_ns, int64_t end_ns,
			    uint32_t serial, uint32_t step, bool is_late)
{
	struct pp_replay_delay delay = {.thread = serial, .step = step, .is_late = is_late};

	add(self, start_ns, end_ns, (struct change){.ready = 1, .delay = self->all->len});
	g_array_append_val(self->all, delay);
}

static int compare_changes(const void *a, const void *b)
{
	int64_t x = ((const struct change *)a)->at_ns, y = ((const struct change *)b)->at_ns;

	return (x > y) - (x < y);
}

/* Sets the length of all delays. */
static void measure(struct pp_replay_delays *self, uint32_t n_cpus)
{
	int64_t before_ns = 0, sum_ns = 0;
	int running = 0, ready = 0;

	if (self->changes->len)
		qsort(self->changes->data, self->changes->len, sizeof(struct change),
		      compare_changes);
	for (guint i = 0; i < self->changes->len; i++) {
		const struct change *change = &g_array_index(self->changes, struct change, i);

		if (ready > 0 && running < (int)n_cpus)
			sum_ns += change->at_ns - before_ns;
		before_ns = change->at_ns;
		running += change->running;
		ready += change->ready;
		if (change->delay != NO_DELAY)
			g_array_index(self->all, struct pp_replay_delay, change->delay).ns +=
			    change->ready > 0 ? -sum_ns : sum_ns;
	}
}

void pp_replay_delays_finish(struct pp_replay_delays *self, struct pp_replay_model *model,
			     uint32_t (*number_of)(void *data, uint32_t serial), void *data)
{
	measure(self, model->n_cpus);
	for (guint i = 0; i < self->all->len; i++) {
		struct pp_replay_delay delay = g_array_index(self->all, struct pp_replay_delay, i);

		delay.thread = number_of(data, delay.thread);
		if (delay.ns > 0 && delay.thread != UINT32_MAX)
			g_array_append_val(model->delays, delay);
	}
	pp_replay_sort_delays(model);
}
