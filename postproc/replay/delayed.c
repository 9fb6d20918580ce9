/* SPDX-License-Identifier: MIT */
/* The times in which other programs keep threads from a CPU, as they were recorded. */
#include "replay/simulate.h"
#include "replay/simulator.h"

void pp_sim_begin_delays(struct pp_simulator *self)
{
	self->has_delays = self->how->others != 0 && self->model->delays->len != 0;
	for (uint32_t i = 0; i < self->model->threads->len && self->has_delays; i++)
		self->runners[i].next_late = self->runners[i].next_taken =
		    pp_replay_find_delay(self->model, i, 0);
}

/* The sum of those up to the thread's step that it has not had yet. */
static int64_t take(const struct pp_simulator *self, uint32_t number, guint *next, bool is_late)
{
	const GArray *delays = self->model->delays;
	int64_t ns = 0;

	for (; self->has_delays && *next < delays->len; ++*next) {
		const struct pp_replay_delay *delay =
		    &g_array_index(delays, struct pp_replay_delay, *next);

		if (delay->thread != number || delay->step > self->runners[number].at)
			break;
		ns += delay->is_late == is_late ? delay->ns : 0;
	}
	return ns;
}

int64_t pp_sim_late_ns(struct pp_simulator *self, uint32_t number)
{
	return take(self, number, &self->runners[number].next_late, true);
}

int64_t pp_sim_taken_ns(struct pp_simulator *self, uint32_t number)
{
	return take(self, number, &self->runners[number].next_taken, false);
}
