/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "hold.h"
#include "internal.h"
#include "runtime/sys.h"

GM_LARGE uint32_t st_waited[ST_WAITED_PLACES];
bool st_has_waited;

void st_waits_forget(void)
{
	/* A page that is not touched is not copied. */
	if (st_has_waited)
		__builtin_memset(st_waited, 0, sizeof(st_waited));
}

static void uncount(uint64_t *counts, enum st_event id)
{
	__asm__ volatile("decq %0" : "+m"(counts[st_counted_of[id] - 1]));
}

void st_holds_commit(struct st_thread *self)
{
	struct gm_stream *stream = &self->stream;

	if (self->counts == NULL || self->pending == stream->pos)
		return;
	for (; self->pending != stream->pos; self->pending += ST_OP_BYTES) {
		uint32_t time;

		__builtin_memcpy(&time, self->pending + 1, sizeof(time));
		stream->last_ns += (uint32_t)(time - (uint32_t)stream->last_ns);
		uncount(self->counts, (enum st_event) * self->pending);
	}
	/* release: for a reader of the live file, which takes no event beyond it */
	__atomic_store_n(&stream->packet->content_bits,
			 (uint64_t)(stream->pos - (uint8_t *)stream->packet) * 8, __ATOMIC_RELEASE);
}

/* Without the fast path's conditions: room is made, the site is defined, the clock read anew. */
void st_hold_begin_slowly(struct st_thread *self, enum st_event id, uintptr_t site,
			  const void *object)
{
	uint64_t now_ns = st_stamp(self);
	uint16_t number = 0;

	if (self->live && self->counts != NULL && !(self->detours & ST_DETOUR_PAUSE))
		number = st_emit_ready(self, site, now_ns);
	if (number == 0) {
		st_emit_parts(self, id, 0, site, object, 0, now_ns);
		return;
	}
	st_event_put(self, id, number, object, now_ns);
	self->last_object = NULL;
	st_count_event(self->counts, id);
	self->stream.pos += ST_OP_BYTES;
}

void st_hold_refused(struct st_thread *self, enum st_event id, int result, uintptr_t site,
		     const void *object)
{
	if (self->counts != NULL)
		st_count_event(self->counts, id);
	else
		st_emit_parts(self, id, result, site, object, 0, st_stamp(self));
}

void st_hold_was_met(struct st_thread *self, enum st_event id, int result, uintptr_t site,
		     const void *object)
{
	if (self->live) {
		self->stream.pos += ST_OP_BYTES;
		uncount(self->counts, id);
	}
	st_emit_parts(self, id, result, site, object, 0, st_stamp(self));
}
