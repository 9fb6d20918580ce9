/* SPDX-License-Identifier: MIT */
/*
 * Keeps the last release of each thread and of each object, and picks for a wait the one that ended
 * it.
 */
#include "export/stacks/wakers.h"

#include <errno.h>

#include "analysis/state/wait_end.h"

/* A wait that has not ended. */
struct wait {
	const struct pp_object *object;
	enum st_event op;
	int64_t begin_ns;
	struct pp_release woken_by;
};

struct track {
	GArray *waits;		/* of struct wait, innermost last */
	struct pp_release last; /* the thread's last release */
};

static void track_free(void *data)
{
	struct track *track = data;

	if (track)
		g_array_unref(track->waits);
	g_free(track);
}

void pp_wakers_init(struct pp_wakers *wakers)
{
	wakers->tracks = g_ptr_array_new_with_free_func(track_free);
	wakers->of_object = g_array_new(FALSE, TRUE, sizeof(struct pp_release));
}

void pp_wakers_done(struct pp_wakers *wakers)
{
	g_ptr_array_unref(wakers->tracks);
	g_array_unref(wakers->of_object);
}

static struct track *track_of(struct pp_wakers *wakers, const struct pp_thread *thread)
{
	struct track *track;

	pp_by_serial_reach(wakers->tracks, thread->serial);
	track = wakers->tracks->pdata[thread->serial];
	if (!track) {
		track = wakers->tracks->pdata[thread->serial] = g_new0(struct track, 1);
		track->waits = g_array_new(FALSE, FALSE, sizeof(struct wait));
	}
	return track;
}

static struct pp_release *last_of(struct pp_wakers *wakers, const struct pp_object *object)
{
	if (object->serial >= wakers->of_object->len)
		g_array_set_size(wakers->of_object, object->serial + 1);
	return &g_array_index(wakers->of_object, struct pp_release, object->serial);
}

static void note(struct pp_wakers *wakers, const struct pp_object *object,
		 const struct pp_operation *operation, int64_t at_ns)
{
	struct pp_release release = {operation->thread, object,		 operation->op,
				     operation->site,	operation->path, at_ns};

	*last_of(wakers, object) = release;
	track_of(wakers, operation->thread)->last = release;
}

void pp_wakers_operation(struct pp_wakers *wakers, const struct pp_object *object,
			 const struct pp_operation *operation)
{
	if (pp_operation_releases(operation) || operation->op == ST_EVENT_thread_exit)
		note(wakers, object, operation, operation->end_ns);
}

void pp_wakers_yielded(struct pp_wakers *wakers, const struct pp_object *mutex,
		       const struct pp_operation *operation)
{
	note(wakers, mutex, operation, operation->begin_ns);
}

/* Another object may get its serial and its memory. */
void pp_wakers_forget(struct pp_wakers *wakers, const struct pp_object *object)
{
	*last_of(wakers, object) = (struct pp_release){0};
	if (!pp_object_n_waiters(object))
		return;
	for (guint t = 0; t < wakers->tracks->len; t++) {
		struct track *track = wakers->tracks->pdata[t];

		for (guint i = 0; track && i < track->waits->len; i++) {
			struct wait *wait = &g_array_index(track->waits, struct wait, i);

			if (wait->object == object)
				wait->object = NULL;
		}
	}
}

void pp_wakers_waits(struct pp_wakers *wakers, const struct pp_object *object,
		     const struct pp_operation *operation)
{
	struct wait wait = {.object = object, .op = operation->op, .begin_ns = operation->begin_ns};

	g_array_append_val(track_of(wakers, operation->thread)->waits, wait);
}

void pp_wakers_waking(struct pp_wakers *wakers, const struct pp_event *event)
{
	const struct pp_thread *waker = event->waking.by_interrupt ? NULL : event->waking.waker;
	const struct pp_release *last;
	struct wait *wait;
	GArray *waits;

	if (!event->thread || !waker || waker == event->thread)
		return;
	last = &track_of(wakers, waker)->last;
	waits = track_of(wakers, event->thread)->waits;
	if (!waits->len || !last->thread)
		return;
	wait = &g_array_index(waits, struct wait, waits->len - 1);
	if (last->object == wait->object && last->at_ns >= wait->begin_ns)
		wait->woken_by = *last;
}

/* Removes the wait, and nested waits, which were abandoned. */
static struct pp_release take_waker(GArray *waits, const struct pp_object *object,
				    const struct pp_operation *operation)
{
	struct pp_release waker = {0};

	for (guint i = waits->len; i-- > 0;) {
		const struct wait *wait = &g_array_index(waits, struct wait, i);

		if (wait->object != object || wait->op != operation->op ||
		    wait->begin_ns != operation->begin_ns)
			continue;
		waker = wait->woken_by;
		g_array_set_size(waits, i);
		break;
	}
	return waker;
}

bool pp_wakers_end(struct pp_wakers *wakers, const struct pp_object *object,
		   const struct pp_operation *operation, struct pp_release *ret)
{
	struct pp_release waker =
	    take_waker(track_of(wakers, operation->thread)->waits, object, operation);

	if (!operation->finished || operation->result == ETIMEDOUT || operation->result == EINTR ||
	    operation->end_ns == operation->begin_ns)
		return false;
	if (!waker.thread)
		waker = *last_of(wakers, object);
	if (!waker.thread || waker.thread == operation->thread ||
	    waker.at_ns < operation->begin_ns || waker.at_ns > operation->end_ns)
		return false;
	*ret = waker;
	return true;
}
