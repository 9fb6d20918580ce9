/* SPDX-License-Identifier: MIT */
/*
 * Writes one event of any shape, on the slow path: defines its site, makes room, and keeps time
 * stamps in order.
 */
#include <errno.h>

#include "record/hold.h"
#include "record/internal.h"
#include "runtime/process/process.h"
#include "runtime/process/threads.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"

enum shape {
	SHAPE_SITE,
	SHAPE_OP,
	SHAPE_BEGIN,
	SHAPE_VALUE,
	SHAPE_COND,
	SHAPE_ROUTINE,
	SHAPE_CALL_PATH,
	SHAPE_PATH,
	SHAPE_TRIES,
	SHAPE_CONDITIONALS,
	SHAPE_ORDER,
	SHAPE_IO
};

static const uint8_t shape_of[ST_N_EVENTS] = {
#define ST_EVENT_SHAPE(name, shape) [ST_EVENT_##name] = SHAPE_##shape,
    ST_EVENTS(ST_EVENT_SHAPE)
#undef ST_EVENT_SHAPE
};

bool st_begins_wait(enum st_event id)
{
	return shape_of[id] == SHAPE_BEGIN || id == ST_EVENT_cond_wait_begin ||
	       id == ST_EVENT_cond_timedwait_begin;
}

const uint8_t st_counted_of[ST_N_EVENTS] = {
#define ST_COUNTED_OF(name) [ST_EVENT_##name] = ST_COUNTED_##name + 1,
    ST_COUNTED_EVENTS(ST_COUNTED_OF)
#undef ST_COUNTED_OF
};

#define PAUSE_NS 1000000000u
/* extended header 10, result 1, site 2, object 8, call 1, path 4, duration 8 */
#define EVENT_MAX_BYTES 34
#define PACKET_ROOM	3900u /* less than in an empty packet of a page */

struct cursor {
	uint8_t *at;
};

static void put(struct cursor *cursor, uint64_t value, unsigned n)
{
	__builtin_memcpy(cursor->at, &value, n);
	cursor->at += n;
}

static void put_header(struct cursor *cursor, enum st_event id, bool extended, uint64_t now_ns)
{
	if (!extended) {
		put(cursor, id, 1);
		put(cursor, now_ns, 4);
		return;
	}
	put(cursor, ST_EVENT_EXTENDED, 1);
	put(cursor, id, 1);
	put(cursor, now_ns, 8);
}

static void put_fields(struct cursor *cursor, const struct st_record *record, uint16_t site)
{
	enum shape shape = shape_of[record->id];

	if (shape == SHAPE_CALL_PATH) {
		put(cursor, record->extra, 4);
		put(cursor, record->object, 4);
		return;
	}
	put(cursor, record->result, 1);
	put(cursor, site, 2);
	put(cursor, record->object, 8);
	if (shape == SHAPE_IO) {
		put(cursor, record->call, 1);
		put(cursor, record->path, 4);
		put(cursor, record->extra, 8);
	}
	if (shape == SHAPE_BEGIN || shape == SHAPE_VALUE)
		put(cursor, record->extra, 4);
	else if (shape == SHAPE_COND || shape == SHAPE_ROUTINE)
		put(cursor, record->extra, 8);
}

/* Returns the end of the event that begins at `at`. */
static const uint8_t *event_after(const uint8_t *at)
{
	bool extended = at[0] == ST_EVENT_EXTENDED;
	unsigned id = extended ? at[1] : at[0];

	at += extended ? 10 : 5;
	if (id >= ST_N_EVENTS) /* one of ST_SAME_EVENTS */
		return id < ST_N_CLASSES ? at + 3 : NULL;
	switch (shape_of[id]) {
	case SHAPE_SITE:
		return at + 10;
	case SHAPE_CALL_PATH:
	case SHAPE_CONDITIONALS:
	case SHAPE_ORDER:
		return at + 8;
	case SHAPE_PATH:
		return at + 16;
	case SHAPE_TRIES:
		return at + 20;
	case SHAPE_IO:
		return at + 24;
	case SHAPE_BEGIN:
	case SHAPE_VALUE:
		return at + 15;
	case SHAPE_COND:
	case SHAPE_ROUTINE:
		return at + 19;
	default:
		return at + 11;
	}
}

void st_packet_lost(const struct gm_packet *packet, uint16_t why)
{
	const uint8_t *at = (const uint8_t *)(packet + 1);
	const uint8_t *end = (const uint8_t *)packet + packet->content_bits / 8;
	struct gm_thread_slot *slot = gm_thread_at(packet->index);
	uint64_t n = 0;

	while (at != NULL && at < end) {
		uint8_t id = at[0] == ST_EVENT_EXTENDED ? at[1] : at[0];

		n += id != ST_EVENT_site && id != ST_EVENT_path && id != ST_EVENT_call_path &&
		     id != ST_EVENT_tries && id != ST_EVENT_conditionals && id != ST_EVENT_order;
		at = event_after(at);
	}
	if (slot != NULL)
		st_slot_count_lost(slot, n, why);
	else
		gm_process_count_lost(GM_LIB_SYNC, n, why);
}

/*
 * For an event of a writer without a stream. Returns true if it has one now, to write the event
 * there.
 */
static ST_COLD bool elsewhere(struct st_thread *self, uintptr_t site)
{
	if (self != &st_counting)
		return st_thread_reborn(self);
	if (st_ust_is_own(site))
		return false;
	st_count_lost_anywhere();
	return false;
}

/*
 * Makes room for `need_bytes` more. Signals are blocked: a handler that jumps out would leave it
 * unfinished.
 */
static ST_COLD bool make_room(struct st_thread *self, uint64_t need_bytes, uint64_t now_ns)
{
	uint64_t mask, begin_ns;
	bool made;

	/* Forked in mid-event: the file belongs to the parent. */
	if (!self->live)
		return false;
	if (gm_seal_is_set()) {
		self->stream.why = GM_LOSS_COUNTING_ONLY;
		return false;
	}
	gm_signals_block(&mask);
	self->last_object = NULL; /* it is in the packet that ends here */
	begin_ns = self->budget.watched ? gm_clock_read(&self->clock) : 0;
	made = gm_stream_room(&self->stream, need_bytes, now_ns);
	if (made && self->budget.watched)
		st_budget_note_room(gm_clock_read(&self->clock) - begin_ns,
				    (uint64_t)(self->stream.end - self->stream.pos));
	gm_signals_restore(mask);
	self->pending = self->stream.pos;
	if (self->budget.watched)
		st_budget_check_output(self, now_ns);
	return made;
}

/*
 * Returns false if there is no room for so many bytes at *now_ns, which is set to the time of the
 * last event if it is earlier.
 */
static bool has_room(struct st_thread *self, uint64_t need_bytes, uint64_t *now_ns)
{
	st_holds_commit(self);
	if (st_unlikely(self->former != NULL))
		st_holds_commit_formers(self);
	if (*now_ns < self->stream.last_ns)
		*now_ns = self->stream.last_ns;
	return st_likely((uintptr_t)self->stream.pos + need_bytes <= (uintptr_t)self->stream.end) ||
	       make_room(self, need_bytes, *now_ns);
}

/* The bytes of a call path and its event, or those that any packet has room for. */
static uint64_t path_bytes(unsigned n_frames)
{
	uint64_t n_bytes = (n_frames + 3u) * EVENT_MAX_BYTES;

	return n_bytes < PACKET_ROOM ? n_bytes : PACKET_ROOM;
}

void st_emit_path_room(struct st_thread *self, unsigned n_frames, uint64_t now_ns)
{
	has_room(self, path_bytes(n_frames), &now_ns);
}

/* In a ring, a wait's begin needs room for its end, too (ring.c). */
static uint64_t bytes_needed(enum st_event id, unsigned n_events)
{
	uint64_t n_bytes = n_events * EVENT_MAX_BYTES;

	if (!st_rings || !st_begins_wait(id))
		return n_bytes;
	n_bytes += path_bytes(st_path_wait_ns != UINT64_MAX ? st_path_depth : 1);
	return n_bytes < PACKET_ROOM ? n_bytes : PACKET_ROOM;
}

static struct cursor event_begin(struct st_thread *self, enum st_event id, uint64_t now_ns)
{
	struct cursor cursor = {self->stream.pos};

	put_header(&cursor, id, now_ns - self->stream.last_ns > UINT32_MAX, now_ns);
	return cursor;
}

static void event_end(struct st_thread *self, const struct cursor *cursor, uint64_t now_ns)
{
	self->stream.last_ns = now_ns;
	self->last_object = NULL;
	/*
	 * release: a reader of the live file takes no event beyond this length. Stored first: after
	 * a jump out of a handler the rest is derived from it, see st_stream_settle().
	 */
	__atomic_store_n(&self->stream.packet->content_bits,
			 (uint64_t)(cursor->at - (uint8_t *)self->stream.packet) * 8,
			 __ATOMIC_RELEASE);
	__atomic_store_n(&self->stream.pos, cursor->at, __ATOMIC_RELEASE);
	__atomic_store_n(&self->pending, cursor->at, __ATOMIC_RELEASE);
}

void st_stream_settle(struct st_thread *self)
{
	struct gm_packet *packet = self->stream.packet;
	uint8_t *end;

	if (packet == NULL || self->stream.pos == NULL)
		return;
	end = (uint8_t *)packet + packet->content_bits / 8;
	if (self->stream.pos < end)
		self->stream.pos = end;
	if (self->pending < end)
		self->pending = end;
	/* The fast paths advance pos first. */
	if (self->counts == NULL)
		packet->content_bits = (uint64_t)(self->stream.pos - (uint8_t *)packet) * 8;
}

/* There is room for it. */
static ST_COLD void write_conditionals(struct st_thread *self, uint64_t now_ns)
{
	uint64_t count = st_conditionals;
	struct cursor cursor = event_begin(self, ST_EVENT_conditionals, now_ns);

	put(&cursor, count, 8);
	event_end(self, &cursor, now_ns);
	self->conditionals = count;
}

/* There is room for it. */
static ST_COLD void write_order(struct st_thread *self, uint64_t number, uint64_t now_ns)
{
	struct cursor cursor = event_begin(self, ST_EVENT_order, now_ns);

	put(&cursor, number, 8);
	event_end(self, &cursor, now_ns);
}

/* Writes to the thread's stream. */
static void write_event(struct st_thread *self, const struct st_record *record)
{
	uint64_t now_ns = record->now_ns;
	struct cursor cursor;
	uint16_t site = 0;
	/*
	 * Includes the definition of its site, which must not be lost on its own; with a call path,
	 * those of its event, since another one must not take it.
	 */
	unsigned n = record->id == ST_EVENT_call_path ? 3 : 2;
	bool counts = st_unlikely(st_conditionals != self->conditionals);
	uint64_t order = st_unlikely(st_orders) ? st_order_number(record) : 0;

	n += counts + (order != 0);
	if (!has_room(self, bytes_needed(record->id, n), &now_ns)) {
		/*
		 * A lost path is not counted, because its event follows; nor is an event after a
		 * fork.
		 */
		if (self->live && record->id != ST_EVENT_call_path)
			st_count_lost(self, 1);
		return;
	}
	if (counts)
		write_conditionals(self, now_ns);
	if (record->site != 0)
		site = st_site_number(self, record->site, now_ns);
	if (order != 0)
		write_order(self, order, now_ns);
	cursor = event_begin(self, record->id, now_ns);
	put_fields(&cursor, record, site);
	if (record->id == ST_EVENT_io_call)
		self->budget.io_bytes += (uint64_t)(cursor.at - self->stream.pos);
	event_end(self, &cursor, now_ns);
	if (st_unlikely(self->detours & ST_DETOUR_PAUSE))
		__atomic_fetch_and(&self->detours, (uint8_t)~ST_DETOUR_PAUSE, __ATOMIC_RELAXED);
}

uint16_t st_emit_ready(struct st_thread *self, uintptr_t site, uint64_t now_ns)
{
	uint64_t number;

	st_sites_check(self);
	if ((uintptr_t)self->stream.pos + 2 * EVENT_MAX_BYTES > (uintptr_t)self->stream.end &&
	    !has_room(self, 2 * EVENT_MAX_BYTES, &now_ns))
		return 0;
	number = st_site_find(self, site);
	return number != 0 ? (uint16_t)number : st_site_number(self, site, now_ns);
}

bool st_emit_site(struct st_thread *self, uint16_t number, uintptr_t site, uint64_t now_ns)
{
	struct cursor cursor;

	if (!has_room(self, EVENT_MAX_BYTES, &now_ns))
		return false;
	cursor = event_begin(self, ST_EVENT_site, now_ns);
	put(&cursor, number, 2);
	put(&cursor, site, 8);
	event_end(self, &cursor, now_ns);
	return true;
}

bool st_emit_path(struct st_thread *self, uint32_t number, uint32_t parent, uint64_t address,
		  uint64_t now_ns)
{
	struct cursor cursor;

	if (!has_room(self, EVENT_MAX_BYTES, &now_ns))
		return false;
	cursor = event_begin(self, ST_EVENT_path, now_ns);
	put(&cursor, number, 4);
	put(&cursor, parent, 4);
	put(&cursor, address, 8);
	event_end(self, &cursor, now_ns);
	return true;
}

void st_emit_tries(struct st_thread *self, const struct st_tries *tries)
{
	uint64_t now_ns = tries->since_ns;
	struct cursor cursor;

	if ((tries->n_more == 0 && tries->holder == 0) || !self->live ||
	    !has_room(self, 3 * EVENT_MAX_BYTES, &now_ns))
		return;
	cursor = event_begin(self, ST_EVENT_tries, now_ns);
	put(&cursor, (uintptr_t)tries->object, 8);
	put(&cursor, tries->holder, 4);
	put(&cursor, tries->n_more, 8);
	event_end(self, &cursor, now_ns);
}

/* Returns true unless it is a call of LTTng's own. Notes the object of a new site in `maps`. */
static bool is_programs(struct st_thread *self, uintptr_t site)
{
	if (st_likely(site == 0 || st_site_find(self, site) != 0))
		return true;
	if (st_ust_is_own(site))
		return false;
	if (self->only_ust)
		st_site_number(self, site, 0);
	return true;
}

/* For an operation that did not wait. Returns false if it must be written. */
static bool ust_count(const struct st_thread *self, enum st_event id, uintptr_t site)
{
	if (self->ust_counts == NULL || st_counted_of[id] == 0 || st_ust_is_own(site))
		return false;
	st_count_event(self->ust_counts, id);
	return true;
}

/* Returns true if the event also goes to the thread's stream. */
static bool pass_to_ust(struct st_thread *self, const struct st_record *record)
{
	if (record->id == ST_EVENT_call_path)
		return !self->only_ust;
	if (!is_programs(self, record->site))
		return false;
	if (!st_ust_emit(record) && self->only_ust)
		st_count_lost(self, 1);
	return !self->only_ust;
}

void st_emit(struct st_thread *self, const struct st_record *record)
{
	if (st_unlikely(!self->live)) {
		if (!elsewhere(self, record->site))
			return;
		/* The first event of a forked child: without a writer it was not checked. */
		if (st_skips(record->id, (const void *)record->object, record->site))
			return;
	}
	if (st_unlikely(self->selective) && st_fates[record->id] == ST_SKIPPED)
		return;
	if (st_tries_are_open(self))
		st_tries_end(self);
	st_sites_check(self);
	if (!self->ust || pass_to_ust(self, record))
		write_event(self, record);
	if (st_unlikely(st_access != NULL))
		st_access_event(self, record);
}

bool st_ust_release(struct st_thread *self, enum st_event id, int expected, uintptr_t site,
		    const void *object, bool sleepers)
{
	struct st_record record = {
	    .id = id,
	    .result = (uint8_t)expected,
	    .site = site,
	    .object = (uintptr_t)object,
	};

	if (!sleepers && ust_count(self, id, site))
		return false;
	pass_to_ust(self, &record);
	return true;
}

void st_ust_released(struct st_thread *self, enum st_event id, int expected, int result,
		     uintptr_t site, const void *object, uint64_t now_ns)
{
	struct st_record record = {
	    .id = id,
	    .result = (uint8_t)result,
	    .site = site,
	    .object = (uintptr_t)object,
	    .now_ns = now_ns,
	};

	if (now_ns == ST_JUST_COUNTED)
		return;
	if (result != expected)
		st_emit(self, &record);
	else if (self->live && !self->only_ust && !st_ust_is_own(site)) {
		write_event(self, &record);
		if (st_access != NULL)
			st_access_event(self, &record);
	}
}

void st_emit_parts(struct st_thread *self, enum st_event id, int result, uintptr_t site,
		   const void *object, uint64_t extra, uint64_t now_ns)
{
	struct st_record record = {
	    .id = id,
	    .result = (uint8_t)result,
	    .site = site,
	    .object = (uintptr_t)object,
	    .extra = extra,
	    .now_ns = now_ns,
	};

	st_emit(self, &record);
}

void st_emit_unless_counted(struct st_thread *self, enum st_event id, int result, uintptr_t site,
			    const void *object, uint64_t extra, uint64_t now_ns)
{
	if (!ust_count(self, id, site))
		st_emit_parts(self, id, result, site, object, extra, now_ns);
}

uint64_t st_stamp_special(struct st_thread *self)
{
	uint64_t now_ns;

	if (self->only_ust)
		return 0;
	if ((self->detours & ST_DETOUR_CLOCK) != 0 || gm_clock_is_due(&self->clock))
		now_ns = st_stamp_slowly(self);
	else
		now_ns = gm_clock_read(&self->clock);
	if (st_unlikely(st_access != NULL))
		st_access_cut(self, now_ns);
	return now_ns;
}

void st_pause_note(struct st_thread *self, uint64_t now_ns)
{
	if (now_ns - self->stream.last_ns > PAUSE_NS)
		__atomic_fetch_or(&self->detours, ST_DETOUR_PAUSE, __ATOMIC_RELAXED);
}

uint64_t st_stamp_slowly(struct st_thread *self)
{
	uint64_t now_ns;

	if (self == &st_counting)
		return gm_sealed ? 0 : gm_clock_ns();
	now_ns = gm_clock_anchor(&self->clock);
	st_pause_note(self, now_ns);
	if (self->slot != NULL)
		gm_thread_note_error(self->slot, self->clock.error_ns);
	st_conditionals_look(self);
	if (self->budget.watched && !gm_seal_is_set())
		st_budget_check(self, now_ns);
	return now_ns;
}

void st_note(enum st_event id, int result, uintptr_t site, const void *object, uint64_t extra)
{
	struct st_thread *self;

	if (result == 0)
		st_select_before(id, object);
	self = st_skips(id, object, site) ? NULL : st_enter();
	if (self != NULL) {
		st_emit_parts(self, id, result, site, object, extra, st_stamp_ordered(self));
		st_leave(self);
	}
	if (result == 0)
		st_select_after(id, object);
}

void st_note_cut(uint64_t begin_ns, enum st_event id, int result, uintptr_t site,
		 const void *object, uint64_t extra)
{
	struct st_thread *self = st_enter();
	uint64_t now_ns;

	st_wait_ends(begin_ns, object);
	if (self == NULL)
		return;
	now_ns = st_stamp_ordered(self);
	if (result == ECANCELED)
		st_thread_ends_at(self, site, now_ns);
	st_emit_parts(self, id, result, site, object, extra, now_ns);
	st_leave(self);
}

uint64_t st_note_begin_at(struct st_thread *self, enum st_event id, uintptr_t site,
			  const void *object, uint64_t extra, uint64_t now_ns)
{
	uintptr_t frame = (uintptr_t)__builtin_dwarf_cfa(); /* the wrapper's stack pointer */
	uint64_t begin_ns;

	/* with LTTng as the only sink there is no other time */
	begin_ns = now_ns != 0 ? now_ns : 1;
	st_emit_parts(self, id, 0, site, object, extra, now_ns);
	st_wait_begins(frame, id, site, object,
		       id == ST_EVENT_cond_wait_begin || id == ST_EVENT_cond_timedwait_begin ? extra
											     : 0,
		       begin_ns);
	st_leave(self);
	return begin_ns;
}

bool st_is_lock(enum st_event id)
{
	switch (id) {
	case ST_EVENT_mutex_lock:
	case ST_EVENT_mutex_timedlock:
	case ST_EVENT_rwlock_rdlock:
	case ST_EVENT_rwlock_timedrdlock:
	case ST_EVENT_rwlock_wrlock:
	case ST_EVENT_rwlock_timedwrlock:
	case ST_EVENT_spin_lock:
	case ST_EVENT_mutex_critical:
	case ST_EVENT_mutex_omp_lock:
		return true;
	default:
		return false;
	}
}

void st_note_end(uint64_t begin_ns, enum st_event id, int result, uintptr_t site,
		 const void *object, uint64_t extra)
{
	uint64_t *counts = st_counts(), now_ns;
	struct st_thread *self;

	/* EOWNERDEAD: it is acquired, and the release will not find it pending. */
	if (begin_ns == 0 && counts != NULL && st_counted_of[id] != 0 && result != EOWNERDEAD &&
	    !(st_is_lock(id) && result == 0)) {
		st_count_event(counts, id);
		return;
	}
	if (begin_ns != 0)
		st_wait_ends(begin_ns, object);
	self = st_enter();
	if (self == NULL)
		return;
	if (begin_ns == 0 && st_is_lock(id) && result == 0) {
		st_sample_is_due(self);
		if (self->counts != NULL)
			st_hold_begin_slowly(self, id, site, object);
		else
			st_emit_acquired(self, id, site, object);
		st_leave(self);
		return;
	}
	now_ns = st_stamp_ordered(self);
	if (begin_ns != 0)
		st_path_note(self, site, object, now_ns - begin_ns, now_ns);
	if (begin_ns != 0)
		st_emit_parts(self, id, result, site, object, extra, now_ns);
	else
		st_emit_unless_counted(self, id, result, site, object, extra, now_ns);
	st_leave(self);
}
