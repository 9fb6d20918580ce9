/* SPDX-License-Identifier: MIT */
/* See thread_io.h. */
#include "analysis/state/thread_io.h"

/* now_ns: from when on its blocked time is known to be in the call. */
static void enter(const struct pp_mode_observer *observer, struct pp_thread_state *self,
		  const struct pp_event *event, int64_t begin_ns, int64_t now_ns)
{
	const struct pp_thread_listener *listener = observer->listener;

	if (!observer->context->has_kernel)
		pp_mode_change(observer, self, now_ns, pp_mode_in_io(event->io.call));
	self->in_io = true;
	self->io = (struct pp_io){
	    .thread = event->thread,
	    .call = event->io.call,
	    .fd = event->io.fd,
	    .object = event->io.object,
	    .site = event->io.site,
	    .path = event->io.path,
	    .blocked_known = true,
	    .begin_ns = begin_ns,
	    .end_ns = begin_ns,
	};
	if (listener->io_begin)
		listener->io_begin(listener->data, &self->io);
}

void pp_thread_io_begin(const struct pp_mode_observer *observer, struct pp_thread_state *self,
			const struct pp_event *event)
{
	enter(observer, self, event, event->time_ns, event->time_ns);
}

void pp_thread_io_cut(const struct pp_mode_observer *observer, struct pp_thread_state *self,
		      int64_t end_ns)
{
	self->in_io = false;
	self->io.end_ns = end_ns;
	if (observer->listener->io)
		observer->listener->io(observer->listener->data, &self->io);
}

void pp_thread_io_end(const struct pp_mode_observer *observer, struct pp_thread_state *self,
		      const struct pp_event *event)
{
	bool has_kernel = observer->context->has_kernel;
	int64_t begin_ns = event->time_ns - (int64_t)event->io.duration_ns;

	if (!self->in_io) {
		enter(observer, self, event, begin_ns, MAX(begin_ns, self->since_ns));
		self->io.blocked_known = !has_kernel;
	}
	if (!has_kernel)
		pp_mode_close(observer, self, event->time_ns, self->mode);
	self->io.begin_ns = begin_ns;
	self->io.error = event->io.error;
	self->io.finished = true;
	pp_thread_io_cut(observer, self, event->time_ns);
	if (!has_kernel)
		pp_mode_enter(observer, self,
			      self->operations.depth ? PP_MODE_BLOCKED_SYNC : PP_MODE_UNKNOWN);
}
