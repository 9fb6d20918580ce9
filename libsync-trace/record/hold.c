/* SPDX-License-Identifier: MIT */
/*
 * The slow paths of holds: acquisitions that become part of the packet, releases that a waiter has
 * seen, and the table of waiters.
 */
#include <errno.h>

#include "record/hold.h"
#include "record/internal.h"
#include "runtime/sys/sys.h"

#define COMPLEMENT   ((uint64_t)1 << 63) /* set in no address */
#define OLDER_LOOKED 8u			 /* below the newest acquisition */

GM_LARGE uint32_t st_waited[ST_WAITED_PLACES];
bool st_has_waited;

static uint32_t generation;

uint32_t st_waits_generation(void)
{
	return __atomic_load_n(&generation, __ATOMIC_RELAXED);
}

void st_waits_note(void)
{
	if (!__atomic_load_n(&st_has_waited, __ATOMIC_RELAXED))
		__atomic_store_n(&st_has_waited, true, __ATOMIC_RELAXED);
}

uint32_t st_waits_begin(const void *object)
{
	/* Otherwise the first event of a forked child would discard this wait. */
	st_process_check_fork_inside();
	st_waits_note();
	/*
	 * seq_cst: pairs with the reads of the table around a release; a release after the
	 * following failed try sees it
	 */
	__atomic_fetch_add(st_waiters_of(object), ST_WAITS_ONCE, __ATOMIC_SEQ_CST);
	return st_waits_generation();
}

void st_waits_end(const void *object, uint32_t generation_of_begin)
{
	if (generation_of_begin == st_waits_generation())
		__atomic_fetch_sub(st_waiters_of(object), 1, __ATOMIC_RELAXED);
}

void st_waits_forget(void)
{
	__atomic_fetch_add(&generation, 1, __ATOMIC_RELAXED);
	/* Written only if necessary: a page that is not written to is not copied. */
	if (st_has_waited)
		__builtin_memset(st_waited, 0, sizeof(st_waited));
}

void st_holds_count(struct st_thread *self)
{
	__atomic_fetch_or(&self->detours,
			  (uint8_t)(ST_DETOUR_HOLDS | (st_times_holds ? ST_DETOUR_TIMED : 0)),
			  __ATOMIC_RELAXED);
}

void st_holds_commit(struct st_thread *self)
{
	struct gm_stream *stream = &self->stream;

	if (self->counts == NULL || self->pending == stream->pos)
		return;
	for (; self->pending != stream->pos; self->pending += ST_OP_BYTES) {
		uint64_t object;
		uint32_t time;

		__builtin_memcpy(&time, self->pending + 1, sizeof(time));
		__builtin_memcpy(&object, self->pending + 8, sizeof(object));
		if (object & COMPLEMENT)
			st_store64(self->pending + 8, ~object);
		stream->last_ns += (uint32_t)(time - (uint32_t)stream->last_ns);
		st_uncount_event(self->counts, (enum st_event) * self->pending);
	}
	/* release: a reader of the live file takes no event beyond this length */
	__atomic_store_n(&stream->packet->content_bits,
			 (uint64_t)(stream->pos - (uint8_t *)stream->packet) * 8, __ATOMIC_RELEASE);
}

void st_holds_commit_formers(struct st_thread *self)
{
	for (struct st_thread *former = self->former; former != NULL; former = former->former) {
		if (st_gate_shut(&former->gate)) /* a handler must not take it meanwhile */
			continue;
		st_tries_end(former);
		st_holds_commit(former);
		st_leave(former);
	}
}

/* A run of failed tries is open, and ends. If it was for this object, the acquisition is an event.
 */
static ST_COLD void hold_begin_tried(struct st_thread *self, enum st_event id, uintptr_t site,
				     const void *object, uint64_t now_ns)
{
	const void *tried = st_tries_end(self);

	if (tried == object) {
		st_emit_parts(self, id, 0, site, object, 0, now_ns);
		return;
	}
	st_pause_note(self, now_ns);
	st_hold_begin_slowly(self, id, site, object);
}

/*
 * Without the fast path's conditions: makes room, defines the site, synchronizes the clock. With a
 * sampled call path it is an event, and so is the release, which does not find it pending.
 */
void st_hold_begin_slowly(struct st_thread *self, enum st_event id, uintptr_t site,
			  const void *object)
{
	uint64_t now_ns = st_stamp(self);
	uint16_t number = 0;

	if (st_sample_was_due(self) && !st_tries_are_open(self)) {
		st_sample_note(self, site, object, now_ns);
		st_emit_parts(self, id, 0, site, object, 0, now_ns);
		return;
	}
	if (self->live && self->counts != NULL &&
	    !(self->detours & (ST_DETOUR_PAUSE | ST_DETOUR_TRIES)))
		number = st_emit_ready(self, site, now_ns);
	if (number == 0 && st_tries_are_open(self)) {
		hold_begin_tried(self, id, site, object, now_ns);
		return;
	}
	if (number == 0) {
		st_emit_parts(self, id, 0, site, object, 0, now_ns);
		return;
	}
	st_event_put(self, id, number, object, now_ns);
	if (st_is_timed(self))
		st_store64(self->stream.pos + 8, ~(uint64_t)(uintptr_t)object);
	self->last_object = NULL;
	st_count_event(self->counts, id);
	self->stream.pos += ST_OP_BYTES;
}

void st_hold_refused(struct st_thread *self, enum st_event id, int result, uintptr_t site,
		     const void *object)
{
	if (self->counts != NULL && result != EOWNERDEAD)
		st_count_event(self->counts, id);
	else
		st_emit_parts(self, id, result, site, object, 0, st_stamp(self));
}

/* The event of a release that failed, or during which a thread has begun to wait. */
static ST_COLD void emit_contended(struct st_thread *self, enum st_event id, int result,
				   uintptr_t site, const void *object)
{
	uint64_t now_ns = st_stamp(self);

	if (result == 0)
		st_path_note(self, site, object, ST_RELEASES, now_ns);
	st_emit_parts(self, id, result, site, object, 0, now_ns);
}

void st_hold_was_contended(struct st_thread *self, enum st_event id, int result, uintptr_t site,
			   const void *object)
{
	if (self->live) {
		self->stream.pos += ST_OP_BYTES;
		st_uncount_event(self->counts, id);
	}
	emit_contended(self, id, result, site, object);
}

/* Returns the place of the newest pending acquisition of the object below the last; NULL: none. */
static uint8_t *older_find(const struct st_thread *self, const void *object)
{
	uint8_t *at = self->stream.pos - ST_OP_BYTES;

	for (unsigned i = 0; i < OLDER_LOOKED && at > self->pending; i++) {
		uint64_t found;

		at -= ST_OP_BYTES;
		__builtin_memcpy(&found, at + 8, sizeof(found));
		if (found == (uintptr_t)object)
			return at;
	}
	return NULL;
}

bool st_hold_is_older(const struct st_thread *self, const void *object, uint32_t *ret_waits)
{
	if (self->counts == NULL || self->pending == self->stream.pos ||
	    older_find(self, object) == NULL)
		return false;
	*ret_waits = st_waits_of(object);
	return (*ret_waits & ST_CONTENDED) == 0;
}

/*
 * Moves the newer acquisitions down. They are not pending meanwhile: after a jump out of a handler
 * they are only counted.
 */
static void older_take_back(struct st_thread *self, uint8_t *at)
{
	uint8_t *end = self->stream.pos;

	self->stream.pos = at;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	for (; at + ST_OP_BYTES < end; at += ST_OP_BYTES)
		__builtin_memcpy(at, at + ST_OP_BYTES, ST_OP_BYTES);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self->stream.pos = at;
}

void st_hold_end_older(struct st_thread *self, enum st_event id, int result, uint32_t waits,
		       uintptr_t site, const void *object)
{
	if (result != 0 || st_hold_was_waited_for(object, waits)) {
		emit_contended(self, id, result, site, object);
	} else if (self->live) { /* not forked in mid-event */
		older_take_back(self, older_find(self, object));
		st_count_event(self->counts, id);
	}
}

/* Returns the time of the newest acquisition: each stores 32 bits. */
static uint64_t newest_ns(const struct st_thread *self)
{
	uint64_t at_ns = self->stream.last_ns;

	for (const uint8_t *at = self->pending; at < self->stream.pos; at += ST_OP_BYTES) {
		uint32_t time;

		__builtin_memcpy(&time, at + 1, sizeof(time));
		at_ns += (uint32_t)(time - (uint32_t)at_ns);
	}
	return at_ns;
}

bool st_timed_begin(struct st_thread *self, enum st_event id, const void *object,
		    struct st_timing *ret_timing)
{
	const uint8_t *newest = self->stream.pos - ST_OP_BYTES;
	struct st_timing timing;
	uint64_t complement;

	if (self->counts == NULL || self->pending == self->stream.pos)
		return false;
	__builtin_memcpy(&complement, newest + 8, sizeof(complement));
	timing.waits = st_waits_of(object);
	if (~complement != (uintptr_t)object || (timing.waits & ST_CONTENDED) != 0)
		return false;
	timing.op = newest[0];
	__builtin_memcpy(&timing.site, newest + 6, sizeof(timing.site));
	timing.begin_ns = newest_ns(self);
	timing.end_ns = st_stamp(self);
	st_hold_take_back(self, (enum st_counted)(st_counted_of[id] - 1));
	*ret_timing = timing;
	return true;
}

void st_timed_end(struct st_thread *self, const struct st_timing *timing, enum st_event id,
		  int result, uintptr_t site, const void *object)
{
	if (result != 0 || st_hold_was_waited_for(object, timing->waits))
		st_hold_was_contended(self, id, result, site, object);
	else if (self->live && self->counts != NULL)
		st_timed_add(self, timing, object);
}
