/* SPDX-License-Identifier: MIT */
/* See releases.h. */
#include "pass/occ/releases.h"

#include "analysis/state/wait_end.h"

void pp_occ_releases_init(struct pp_occ_releases *self, const struct pp_thread_states *states)
{
	self->states = states;
	self->contention = pp_contention_new();
	self->contenders = g_array_new(FALSE, FALSE, sizeof(struct pp_contender));
}

void pp_occ_releases_done(struct pp_occ_releases *self)
{
	pp_contention_free(self->contention);
	g_array_unref(self->contenders);
}

/* Valid until the next call. */
static struct pp_contender *contender_of(struct pp_occ_releases *self,
					 const struct pp_thread *thread)
{
	while (self->contenders->len <= thread->serial) {
		struct pp_contender contender = PP_CONTENDER_INIT;

		g_array_append_val(self->contenders, contender);
	}
	return &g_array_index(self->contenders, struct pp_contender, thread->serial);
}

/* The thread's contender, with the time up to now. */
static struct pp_contender *contender_until(struct pp_occ_releases *self,
					    const struct pp_thread *thread, int64_t now_ns)
{
	const struct pp_thread_state *state = pp_thread_state(self->states, thread);
	struct pp_contender *contender = contender_of(self, thread);
	bool is_known = state && state->begun;

	if (contender->until_ns == PP_TIME_UNKNOWN)
		contender->until_ns = is_known ? state->start_ns : now_ns;
	pp_contention_pass(self->contention, contender, now_ns,
			   is_known ? state->mode : PP_MODE_UNKNOWN);
	return contender;
}

static bool step(struct pp_occ_releases *self, struct pp_contender *contender, uint64_t site)
{
	bool is_contended;

	pp_contention_step(self->contention, contender, site, &is_contended);
	return is_contended;
}

void pp_occ_releases_interval(struct pp_occ_releases *self, const struct pp_interval *interval)
{
	struct pp_contender *contender = contender_of(self, interval->thread);

	if (contender->until_ns == PP_TIME_UNKNOWN)
		contender->until_ns = interval->start_ns;
	if (pp_contention_pass(self->contention, contender, interval->end_ns, interval->mode))
		step(self, contender, 0);
}

void pp_occ_releases_event(struct pp_occ_releases *self, const struct pp_event *event)
{
	const struct pp_thread *waker = event->kind == PP_EVENT_WAKING ? event->waking.waker : NULL;

	if (waker)
		pp_contention_wakes(self->contention, contender_of(self, waker), event->time_ns);
}

void pp_occ_releases_waits(struct pp_occ_releases *self, const struct pp_object *object,
			   const struct pp_operation *operation)
{
	pp_contention_waits(contender_until(self, operation->thread, operation->begin_ns),
			    pp_object_is_lock(object));
}

void pp_occ_releases_operation(struct pp_occ_releases *self, const struct pp_object *object,
			       const struct pp_operation *operation)
{
	struct pp_contender *contender =
	    contender_until(self, operation->thread, operation->end_ns);

	if (operation->waited && object->type == pp_sync_type(operation->op))
		pp_contention_waited(self->contention, contender);
	/* A release of a lock is a step of its own, which has begun. */
	if (!pp_object_is_lock(object) || !pp_operation_releases(operation))
		step(self, contender, operation->site);
}

bool pp_occ_releases_released(struct pp_occ_releases *self, const struct pp_object *lock,
			      const struct pp_thread *thread, uint64_t site, int64_t now_ns)
{
	struct pp_contender *contender = contender_until(self, thread, now_ns);
	bool had_waiters = pp_object_n_waiters(lock) != 0;

	step(self, contender, site);
	pp_contention_released(contender, site, had_waiters, now_ns);
	return had_waiters;
}

double pp_occ_releases_cost_ns(const struct pp_occ_releases *self)
{
	return (double)pp_contention_costs(self->contention).release_ns;
}
