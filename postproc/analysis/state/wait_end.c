/* SPDX-License-Identifier: MIT */
/* See wait_end.h. */
#include "analysis/state/wait_end.h"

#include <errno.h>

/* An open wait; nested waits are those of signal handlers. */
struct wait {
	const struct pp_object *object; /* NULL: no longer exists */
	enum st_event op;
	int64_t begin_ns;
	struct pp_wait_other owner, waker;
	bool is_released; /* the waker had released or signalled the object */
};

struct track {
	uint32_t last; /* mark of its last call; PP_MARK_NONE */
	GArray *waits; /* of struct wait, innermost last */
};

struct release {
	struct pp_wait_other by;
	int64_t at_ns;
};

static const char *const hows[PP_N_WAIT_HOWS] = {
    [PP_WAIT_HELD] = "held",	       [PP_WAIT_WOKE] = "woke",
    [PP_WAIT_RELEASED] = "released",   [PP_WAIT_ENDED] = "ended",
    [PP_WAIT_TIMED_OUT] = "timed out", [PP_WAIT_ENDLESS] = "never ended",
    [PP_WAIT_NOT_KNOWN] = "not known",
};

const char *pp_wait_how_text(enum pp_wait_how how)
{
	return hows[how];
}

static void track_free(void *data)
{
	struct track *track = data;

	if (track)
		g_array_unref(track->waits);
	g_free(track);
}

void pp_wait_ends_init(struct pp_wait_ends *ends, const struct pp_model *model)
{
	ends->model = model;
	ends->tracks = g_ptr_array_new_with_free_func(track_free);
	ends->releases = g_ptr_array_new_with_free_func(g_free);
}

void pp_wait_ends_done(struct pp_wait_ends *ends)
{
	g_ptr_array_unref(ends->tracks);
	g_ptr_array_unref(ends->releases);
}

static struct track *track_of(struct pp_wait_ends *ends, const struct pp_thread *thread)
{
	struct track *track;

	pp_by_serial_reach(ends->tracks, thread->serial);
	track = ends->tracks->pdata[thread->serial];
	if (!track) {
		track = ends->tracks->pdata[thread->serial] = g_new0(struct track, 1);
		track->last = PP_MARK_NONE;
		track->waits = g_array_new(FALSE, FALSE, sizeof(struct wait));
	}
	return track;
}

void pp_wait_ends_call(struct pp_wait_ends *ends, const struct pp_thread *thread, uint32_t mark)
{
	track_of(ends, thread)->last = mark;
}

/* The object's last release at or after that time; NULL: none. */
static const struct release *release_since(const struct pp_wait_ends *ends,
					   const struct pp_object *object, int64_t since_ns)
{
	const struct release *release = object && object->serial < ends->releases->len
					    ? ends->releases->pdata[object->serial]
					    : NULL;

	return release && release->at_ns >= since_ns ? release : NULL;
}

/*
 * A waiter of a condition may have to wait for the mutex next, and is woken by the unlock, also
 * again, or only by it if it was not blocked when it was signalled. The last thread that had
 * signalled before the first of these wake-ups is the waker.
 */
void pp_wait_ends_waking(struct pp_wait_ends *ends, const struct pp_event *event)
{
	const struct pp_thread *waker = event->waking.by_interrupt ? NULL : event->waking.waker;
	struct track *track = event->thread ? track_of(ends, event->thread) : NULL;
	uint32_t mark = waker ? track_of(ends, waker)->last : PP_MARK_NONE;
	const struct release *release;
	struct wait *wait;
	bool is_released, has_mutex;

	if (!track || !track->waits->len)
		return;
	wait = &g_array_index(track->waits, struct wait, track->waits->len - 1);
	release = release_since(ends, wait->object, wait->begin_ns);
	is_released = release && waker && release->by.thread == waker && release->by.mark == mark;
	has_mutex = pp_sync_has(wait->op, PP_SYNC_YIELDS);
	if (wait->is_released && (has_mutex || !is_released))
		return;
	wait->waker = (struct pp_wait_other){waker, mark};
	wait->is_released = is_released;
	if (has_mutex && waker && release) {
		wait->waker = release->by;
		wait->is_released = true;
	}
}

/* --- the owner at the begin of a wait ------------------------------------------------------- */

static const struct pp_hold *live_hold(const struct pp_object *object,
				       const struct pp_thread *thread)
{
	for (guint i = 0; i < pp_object_n_holds(object); i++) {
		const struct pp_hold *hold = &g_array_index(object->holds, struct pp_hold, i);

		if (hold->thread == thread && hold->superseded_ns == PP_TIME_UNKNOWN)
			return hold;
	}
	return NULL;
}

/* The only hold of the object; NULL if there are none or several. */
static const struct pp_hold *only_hold(const struct pp_object *object)
{
	const struct pp_hold *only = NULL;

	for (guint i = 0; i < pp_object_n_holds(object); i++) {
		const struct pp_hold *hold = &g_array_index(object->holds, struct pp_hold, i);

		if (hold->superseded_ns != PP_TIME_UNKNOWN)
			continue;
		if (only)
			return NULL;
		only = hold;
	}
	return only;
}

const struct pp_thread *pp_wait_owner(const struct pp_wait_ends *ends,
				      const struct pp_object *object,
				      const struct pp_operation *operation,
				      const struct pp_hold **ret_hold)
{
	const struct pp_thread *owner;

	*ret_hold = NULL;
	if (!pp_object_is_lock(object))
		return NULL;
	if (operation->holder) {
		owner = pp_model_thread_at(ends->model, operation->holder, operation->begin_ns);
		*ret_hold = owner ? live_hold(object, owner) : NULL;
		return owner;
	}
	*ret_hold = only_hold(object);
	return *ret_hold ? (*ret_hold)->thread : NULL;
}

void pp_wait_ends_begin(struct pp_wait_ends *ends, const struct pp_object *object,
			const struct pp_operation *operation, struct pp_wait_other owner)
{
	struct wait wait = {
	    .object = object,
	    .op = operation->op,
	    .begin_ns = operation->begin_ns,
	    .owner = owner,
	    .waker = {NULL, PP_MARK_NONE},
	};

	g_array_append_val(track_of(ends, operation->thread)->waits, wait);
}

/* Removes the completed wait and those given up inside it. */
static struct wait take_wait(struct track *track, const struct pp_object *object, enum st_event op)
{
	struct wait none = {.object = object, .op = op};

	for (guint i = track->waits->len; i-- > 0;) {
		struct wait wait = g_array_index(track->waits, struct wait, i);

		if (wait.object != object || wait.op != op)
			continue;
		g_array_set_size(track->waits, i);
		return wait;
	}
	return none;
}

static enum pp_wait_how why_unknown(const struct pp_operation *operation)
{
	if (!operation->finished)
		return PP_WAIT_ENDLESS;
	return operation->result == ETIMEDOUT ? PP_WAIT_TIMED_OUT : PP_WAIT_NOT_KNOWN;
}

enum pp_wait_how pp_wait_ends_settle(struct pp_wait_ends *ends, const struct pp_object *object,
				     const struct pp_operation *operation,
				     struct pp_wait_other *ret)
{
	struct wait wait = take_wait(track_of(ends, operation->thread), object, operation->op);
	const struct release *release = release_since(ends, object, operation->begin_ns);
	enum pp_wait_how unknown = why_unknown(operation);

	*ret = (struct pp_wait_other){NULL, PP_MARK_NONE};
	if (operation->op == ST_EVENT_thread_join)
		ret->thread =
		    object->subject ? object->subject
		    : operation->holder
			? pp_model_thread_at(ends->model, operation->holder, operation->begin_ns)
			: NULL;
	if (ret->thread)
		return PP_WAIT_ENDED;
	*ret = wait.owner;
	if (ret->thread)
		return PP_WAIT_HELD;
	if (unknown != PP_WAIT_NOT_KNOWN)
		return unknown;
	if (release &&
	    (release->by.thread == operation->thread || release->at_ns > operation->end_ns))
		release = NULL;
	*ret = wait.waker;
	if (ret->thread && ret->thread != operation->thread) {
		/* The wake-up may be recorded before the signal. */
		if (!wait.is_released && release && release->by.thread == ret->thread)
			ret->mark = release->by.mark;
		return PP_WAIT_WOKE;
	}
	if (release) {
		*ret = release->by;
		return PP_WAIT_RELEASED;
	}
	*ret = (struct pp_wait_other){NULL, PP_MARK_NONE};
	return PP_WAIT_NOT_KNOWN;
}

bool pp_operation_releases(const struct pp_operation *operation)
{
	if (!operation->finished)
		return false;
	if (pp_sync_has(operation->op, PP_SYNC_PASSES))
		return !operation->waited;
	return pp_sync_has(operation->op, PP_SYNC_RELEASES | PP_SYNC_WAKES) &&
	       operation->result == 0;
}

void pp_wait_ends_release(struct pp_wait_ends *ends, const struct pp_object *object,
			  const struct pp_thread *by, uint32_t mark, int64_t at_ns)
{
	struct release *release;

	pp_by_serial_reach(ends->releases, object->serial);
	release = ends->releases->pdata[object->serial];
	if (!release)
		release = ends->releases->pdata[object->serial] = g_new0(struct release, 1);
	*release = (struct release){{by, mark}, at_ns};
}

void pp_wait_ends_forget(struct pp_wait_ends *ends, const struct pp_object *object)
{
	if (object->serial < ends->releases->len)
		g_clear_pointer(&ends->releases->pdata[object->serial], g_free);
	for (guint i = 0; i < pp_object_n_waiters(object); i++) {
		const struct pp_waiter *waiter =
		    &g_array_index(object->waiters, struct pp_waiter, i);
		const GArray *waits = track_of(ends, waiter->thread)->waits;

		for (guint j = 0; j < waits->len; j++) {
			struct wait *wait = &g_array_index(waits, struct wait, j);

			if (wait->object == object)
				wait->object = NULL;
		}
	}
}
