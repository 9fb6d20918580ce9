/* SPDX-License-Identifier: MIT */
/* Time is added to a thread's track as it passes; each operation ends a step of it. */
#include "replay/tracks.h"

int64_t pp_build_part_time(const struct pp_replay_builder *self, int64_t since_ns)
{
	int64_t origin_ns = pp_model_origin(self->context->model);

	if (since_ns <= 0)
		return origin_ns;
	return since_ns < INT64_MAX - origin_ns ? origin_ns + since_ns : INT64_MAX;
}

int64_t pp_build_part_end(const struct pp_replay_builder *self, int64_t ns)
{
	return self->part.is_wanted ? MIN(ns, pp_build_part_time(self, self->part.to_ns)) : ns;
}

struct track *pp_build_track(struct pp_replay_builder *self, const struct pp_thread *thread)
{
	struct track *track;

	pp_by_serial_reach(self->tracks, thread->serial);
	track = self->tracks->pdata[thread->serial];
	if (!track) {
		track = self->tracks->pdata[thread->serial] = g_new0(struct track, 1);
		track->thread = thread;
		track->rank = &self->rank;
		track->contention = self->contention;
		track->call_times = self->call_times;
		track->contender = (struct pp_contender)PP_CONTENDER_INIT;
		track->steps = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_step));
	}
	return track;
}

uint32_t pp_build_site(struct pp_replay_builder *self, uint64_t site)
{
	void *known;

	if (!site)
		return PP_REPLAY_NO_SITE;
	known = g_hash_table_lookup(self->sites, &site);
	if (known)
		return GPOINTER_TO_UINT(known);
	if (self->addresses->len == PP_REPLAY_MOST_SITES)
		return PP_REPLAY_NO_SITE;
	g_array_append_val(self->addresses, site);
	g_hash_table_insert(self->sites, g_memdup2(&site, sizeof(site)),
			    GUINT_TO_POINTER(self->addresses->len));
	return self->addresses->len;
}

uint32_t pp_build_step(struct track *track, struct pp_replay_step step)
{
	bool is_contended;

	if (track->call_times)
		pp_replay_call_times_step(track->call_times, track->thread->serial,
					  track->steps->len, track->contender.cpu_ns);
	step.cpu_ns =
	    pp_contention_step(track->contention, &track->contender, step.site, &is_contended);
	if (is_contended) {
		if (!track->contended)
			track->contended = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_array_append_val(track->contended, track->steps->len);
	}
	step.rank = step.kind == PP_REPLAY_EXIT ? PP_REPLAY_NO_RANK : ++*track->rank;
	g_array_append_val(track->steps, step);
	return track->steps->len - 1;
}

void pp_build_sleep(struct track *track, int64_t ns)
{
	if (ns > 0)
		pp_build_step(track, (struct pp_replay_step){.kind = PP_REPLAY_SLEEP,
							     .sleep_ns = (uint64_t)ns});
}

void pp_build_account(struct track *track, int64_t until_ns, enum pp_mode mode)
{
	pp_build_sleep(track,
		       pp_contention_pass(track->contention, &track->contender, until_ns, mode));
}

struct track *pp_build_track_until(struct pp_replay_builder *self, const struct pp_thread *thread,
				   int64_t now_ns)
{
	const struct pp_thread_state *state = pp_thread_state(self->states, thread);
	struct track *track = pp_build_track(self, thread);

	if (track->contender.until_ns == PP_TIME_UNKNOWN)
		track->contender.until_ns = state && state->begun ? state->start_ns : now_ns;
	now_ns = pp_build_part_end(self, now_ns);
	pp_build_account(track, now_ns, state && state->begun ? state->mode : PP_MODE_UNKNOWN);
	return track;
}

struct track *pp_build_track_at(const struct pp_replay_builder *self, uint32_t serial)
{
	return serial < self->tracks->len ? self->tracks->pdata[serial] : NULL;
}

void pp_build_track_free(void *data)
{
	struct track *track = data;

	if (!track)
		return;
	g_array_unref(track->steps);
	g_clear_pointer(&track->contended, g_array_unref);
	g_free(track);
}
