/* SPDX-License-Identifier: MIT */
/* The part of the time that a model is of: how far each thread is when it begins. */
#include "replay/build.h"
#include "replay/tracks.h"

void pp_replay_builder_cut(struct pp_replay_builder *self, int64_t from_ns, int64_t to_ns)
{
	self->part = (struct pp_build_part){
	    .is_wanted = true,
	    .from_ns = from_ns,
	    .to_ns = to_ns,
	    .threads = g_array_new(FALSE, TRUE, sizeof(struct pp_replay_cut_thread)),
	};
}

static void begin_part(struct pp_replay_builder *self)
{
	int64_t from_ns = pp_build_part_time(self, self->part.from_ns);

	self->part.is_begun = true;
	g_array_set_size(self->part.threads, self->tracks->len);
	for (guint i = 0; i < self->tracks->len; i++) {
		struct track *track = self->tracks->pdata[i];
		const struct pp_thread_state *state =
		    track ? pp_thread_state(self->states, track->thread) : NULL;
		struct pp_replay_cut_thread *thread =
		    &g_array_index(self->part.threads, struct pp_replay_cut_thread, i);

		if (!track)
			continue;
		if (state && !state->over && track->contender.until_ns != PP_TIME_UNKNOWN) {
			pp_build_track_until(self, track->thread, from_ns);
			thread->cpu_ns = track->contender.cpu_ns;
			if (self->call_times)
				pp_replay_call_times_skip(self->call_times, i, thread->cpu_ns);
		}
		thread->n_before = track->steps->len;
	}
}

bool pp_build_part_has(struct pp_replay_builder *self, const struct pp_event *event)
{
	if (!self->part.is_begun && event->time_ns >= pp_build_part_time(self, self->part.from_ns))
		begin_part(self);
	return event->time_ns < pp_build_part_time(self, self->part.to_ns);
}

void pp_build_part_finish(struct pp_replay_builder *self)
{
	if (self->part.is_wanted && !self->part.is_begun)
		begin_part(self);
}

struct pp_replay_cut_sums pp_replay_builder_cut_model(struct pp_replay_builder *self,
						      struct pp_replay_model *model)
{
	g_autofree struct pp_replay_cut_thread *threads =
	    g_new0(struct pp_replay_cut_thread, MAX(model->threads->len, 1));
	int64_t from_ns = pp_build_part_time(self, self->part.from_ns) - self->part.run_ns;

	if (!self->part.is_wanted)
		return (struct pp_replay_cut_sums){0};
	for (guint i = 0; i < self->part.threads->len; i++) {
		const struct track *track = self->tracks->pdata[i];

		if (track)
			threads[track->number] =
			    g_array_index(self->part.threads, struct pp_replay_cut_thread, i);
	}
	from_ns = CLAMP(from_ns, 0, model->recorded_ns);
	model->recorded_ns -= from_ns;
	return pp_replay_cut(model, threads, from_ns);
}
