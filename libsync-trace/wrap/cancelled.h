/* SPDX-License-Identifier: MIT */
/*
 * Waits that are cancellation points. A thread that is cancelled in one ends there, so its call
 * path is taken by a clean-up that the unwinder finds by tables, as in cond.c: files with such
 * waits are compiled with -fexceptions (module.mk).
 */
#ifndef ST_CANCELLED_H
#define ST_CANCELLED_H

#include "record/writer.h"

struct st_cancellable {
	uintptr_t site;
	bool is_over; /* the call has returned */
};

static inline void st_cancellable_left(const struct st_cancellable *wait)
{
	struct st_thread *self = st_likely(wait->is_over) ? NULL : st_enter();

	if (self == NULL)
		return;
	st_thread_ends_at(self, wait->site, st_stamp(self));
	st_leave(self);
}

/* To be declared before the call; is_over is set when it has returned. */
#define ST_CANCELLABLE __attribute__((cleanup(st_cancellable_left))) struct st_cancellable

#endif
