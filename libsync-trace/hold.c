/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "hold.h"
#include "internal.h"
#include "runtime/sys.h"

GM_LARGE uint32_t st_waited[ST_WAITED_PLACES];
bool st_has_waited;

static uint32_t life;

uint32_t st_waits_life(void)
{
	return __atomic_load_n(&life, __ATOMIC_RELAXED);
}

uint32_t st_waits_begin(const void *object)
{
	/* The first event of a forked child would forget it. */
	st_process_check_fork_inside();
	if (!__atomic_load_n(&st_has_waited, __ATOMIC_RELAXED))
		__atomic_store_n(&st_has_waited, true, __ATOMIC_RELAXED);
	/* seq_cst: seen by who releases it after the try that follows has failed */
	__atomic_fetch_add(st_waiters_of(object), ST_WAITS_ONCE, __ATOMIC_SEQ_CST);
	return st_waits_life();
}

void st_waits_end(const void *object, uint32_t life_of_begin)
{
	if (life_of_begin == st_waits_life())
		__atomic_fetch_sub(st_waiters_of(object), 1, __ATOMIC_RELAXED);
}

void st_waits_forget(void)
{
	__atomic_fetch_add(&life, 1, __ATOMIC_RELAXED);
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
