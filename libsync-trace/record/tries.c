/* SPDX-License-Identifier: MIT */
/* The begin and the end of runs of failed tries. */
#include "record/tries.h"

#include "record/internal.h"

void st_tries_mark_slowly(const void *object)
{
	st_waits_note();
	/*
	 * seq_cst: pairs with the reads of the table around a release; a release after the
	 * following failed try sees it
	 */
	__atomic_fetch_or(st_waiters_of(object), ST_TRIED, __ATOMIC_SEQ_CST);
}

void st_tries_begin(struct st_thread *self, enum st_event id, int result, uintptr_t site,
		    const void *object, uint32_t holder, uint64_t now_ns)
{
	if (self->counts == NULL) { /* forked in mid-event */
		st_emit_parts(self, id, result, site, object, 0, now_ns);
		return;
	}
	st_tries_end(self);
	/* As before a wait: what the thread holds meanwhile is recorded. */
	st_holds_commit(self);
	st_count_event(self->counts, id);
	self->tries = (struct st_tries){
	    .object = object,
	    .site = site,
	    .since_ns = now_ns,
	    .holder = holder,
	    .id = (uint8_t)id,
	    .result = (uint8_t)result,
	};
	__atomic_fetch_or(&self->detours, ST_DETOUR_TRIES, __ATOMIC_RELAXED);
}

void st_tries_forget(struct st_thread *self)
{
	__atomic_fetch_and(&self->detours, (uint8_t)~ST_DETOUR_TRIES, __ATOMIC_RELAXED);
	self->tries.object = NULL;
}

const void *st_tries_end(struct st_thread *self)
{
	struct st_tries tries = self->tries;

	if (!st_tries_are_open(self))
		return NULL;
	st_tries_forget(self);
	if (tries.object == NULL)
		return NULL;
	if (self->counts != NULL)
		st_uncount_event(self->counts, (enum st_event)tries.id);
	st_emit_tries(self, &tries);
	st_emit_parts(self, (enum st_event)tries.id, tries.result, tries.site, tries.object, 0,
		      tries.since_ns);
	return tries.object;
}
