/* SPDX-License-Identifier: MIT */
/* The last wake-ups of each thread, which ended its blocking call if they were made in it. */
#include "analysis/state/io_wake.h"

#include <inttypes.h>

#include "core/text/duration.h"

struct wake {
	int64_t at_ns;
	struct pp_wait_other by; /* thread NULL: an interrupt, or a thread outside of the capture */
	bool by_interrupt, is_known;
};

struct last_wakes {
	struct wake uninterruptible, other;
};

static const char *const ends[PP_N_IO_ENDS] = {
    [PP_IO_END_INTERRUPT] = "woken by an interrupt (a timer, a device, the network)",
    [PP_IO_END_OUTSIDE] = "woken by another program",
    [PP_IO_END_AWAKE] = "not woken (working in the kernel, or without a CPU)",
    [PP_IO_END_OPEN] = "not over",
};

void pp_io_wakes_init(struct pp_io_wakes *wakes)
{
	wakes->last = g_array_new(FALSE, TRUE, sizeof(struct last_wakes));
}

void pp_io_wakes_done(struct pp_io_wakes *wakes)
{
	g_array_unref(wakes->last);
}

void pp_io_wakes_waking(struct pp_io_wakes *wakes, const struct pp_event *event,
			const struct pp_thread_state *woken, uint32_t mark)
{
	const struct pp_thread *thread = event->thread;
	bool uninterruptible = woken && woken->uninterruptible && woken->mode != PP_MODE_RUNNING &&
			       woken->mode != PP_MODE_RUNNABLE;
	struct wake wake = {
	    .at_ns = event->time_ns,
	    .by = {event->waking.by_interrupt ? NULL : event->waking.waker, mark},
	    .by_interrupt = event->waking.by_interrupt,
	    .is_known = true,
	};
	struct last_wakes *last;

	if (!thread)
		return;
	if (thread->serial >= wakes->last->len)
		g_array_set_size(wakes->last, thread->serial + 1);
	last = &g_array_index(wakes->last, struct last_wakes, thread->serial);
	if (uninterruptible)
		last->uninterruptible = wake;
	else
		last->other = wake;
}

/* The wake-up that ended the call; NULL: there was none in it. */
static const struct wake *wake_in(const struct pp_io_wakes *wakes, const struct pp_io *io)
{
	const struct last_wakes *last;

	if (io->thread->serial >= wakes->last->len)
		return NULL;
	last = &g_array_index(wakes->last, struct last_wakes, io->thread->serial);
	if (last->other.is_known && last->other.at_ns >= io->begin_ns)
		return &last->other;
	if (last->uninterruptible.is_known && last->uninterruptible.at_ns >= io->begin_ns)
		return &last->uninterruptible;
	return NULL;
}

enum pp_io_end pp_io_wakes_end(const struct pp_io_wakes *wakes, const struct pp_io *io,
			       struct pp_wait_other *ret)
{
	const struct wake *wake = wake_in(wakes, io);

	*ret = (struct pp_wait_other){NULL, PP_MARK_NONE};
	if (!io->finished)
		return PP_IO_END_OPEN;
	if (!wake || wake->by.thread == io->thread)
		return PP_IO_END_AWAKE;
	if (wake->by_interrupt)
		return PP_IO_END_INTERRUPT;
	if (!wake->by.thread)
		return PP_IO_END_OUTSIDE;
	*ret = wake->by;
	return PP_IO_END_WOKEN;
}

char *pp_io_end_sums_text(const struct pp_io_end_sums *sums)
{
	GString *text = g_string_new(NULL);

	for (unsigned end = 0; end < PP_N_IO_ENDS; end++) {
		g_autofree char *time = pp_duration_text(sums->ns[end]);

		if (ends[end] && sums->n[end])
			g_string_append_printf(text, "%s%" PRIu64 " (%s) %s", text->len ? ", " : "",
					       sums->n[end], time, ends[end]);
	}
	return g_string_free(text, text->len == 0);
}
