/* SPDX-License-Identifier: MIT */
/*
 * A thread that comes to a CPU on which one of the same program ran may have waited for that one,
 * which the replay does by its own rules; so such times count only if there are no others.
 */
#include "replay/wakes.h"

#include <stdlib.h>

#define DEFAULT_NS 50000 /* without any times */

/* Longer times are waits for a CPU. */
#define LONGEST_IDLE_NS 1000000
#define LONGEST_NS	200000

/* Fewer times without threads of the program on the CPU are no distribution. */
#define LEAST 16

struct pp_replay_wakes {
	GArray *clean, *own; /* of int64_t */
};

struct pp_replay_wakes *pp_replay_wakes_new(void)
{
	struct pp_replay_wakes *self = g_new(struct pp_replay_wakes, 1);

	self->clean = g_array_new(FALSE, FALSE, sizeof(int64_t));
	self->own = g_array_new(FALSE, FALSE, sizeof(int64_t));
	return self;
}

void pp_replay_wakes_free(struct pp_replay_wakes *self)
{
	g_array_unref(self->clean);
	g_array_unref(self->own);
	g_free(self);
}

bool pp_replay_is_wake(enum pp_replay_wake_to to, int64_t ns)
{
	return ns <= (to == PP_REPLAY_WAKE_IDLE ? LONGEST_IDLE_NS : LONGEST_NS);
}

void pp_replay_wakes_add(struct pp_replay_wakes *self, enum pp_replay_wake_to to, int64_t ns)
{
	g_array_append_val(to == PP_REPLAY_WAKE_OWN ? self->own : self->clean, ns);
}

static int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

void pp_replay_wakes_finish(struct pp_replay_wakes *self, struct pp_replay_model *model)
{
	GArray *times = self->clean;

	if (times->len < LEAST)
		g_array_append_vals(times, self->own->data, self->own->len);
	model->n_wakes = MIN(times->len, PP_REPLAY_MOST_WAKES);
	if (times->len)
		qsort(times->data, times->len, sizeof(int64_t), compare_ns);
	for (uint32_t i = 0; i < model->n_wakes; i++)
		model->wake_ns[i] = g_array_index(
		    times, int64_t, ((2 * (uint64_t)i + 1) * times->len) / (2 * model->n_wakes));
	if (!model->n_wakes)
		pp_replay_set_wake(model, DEFAULT_NS);
}
