/* SPDX-License-Identifier: MIT */
/*
 * An event's time stamp is in the middle of its cost: the rest of an operation's cost is at the
 * begin of the next step. So each step has the cost of about one operation. A thread that is about
 * to block records the begin of its wait first.
 */
#include "replay/recording.h"

static bool is_recorded(enum pp_replay_kind kind)
{
	return kind != PP_REPLAY_SLEEP && kind != PP_REPLAY_EXIT;
}

struct pp_replay_taken_out pp_replay_take_out_recording(struct pp_replay_model *model)
{
	struct pp_replay_taken_out taken = {0};
	uint64_t cost_ns = (uint64_t)model->recording_ns;

	for (guint i = 0; cost_ns && i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];

		for (guint k = 0; k < thread->steps->len; k++) {
			struct pp_replay_step *step =
			    &g_array_index(thread->steps, struct pp_replay_step, k);
			uint64_t ns = MIN(step->cpu_ns, cost_ns);

			if (!is_recorded(step->kind))
				continue;
			step->cpu_ns -= ns;
			taken.ns += ns;
			taken.n_steps++;
		}
	}
	model->costs.block_ns -= MIN(model->costs.block_ns, model->recording_ns);
	model->recording_ns = 0;
	return taken;
}
