/* SPDX-License-Identifier: MIT */
/*
 * Records the holds of a lock that others waited for, if only waits are recorded (sync.mode =
 * contended).
 *
 * An acquisition is stored behind the last event of the stream, as an ordinary event, but not made
 * part of the packet: it is pending. The release takes it back if no thread has waited for the
 * lock, and both are counted. Any other event of the thread, for example its own wait, makes the
 * acquisitions before it part of the packet; a release that does not find its acquisition among the
 * last ones is written, too. So every hold that caused a wait is in the stream, from begin to end
 * and in order of time, and an acquisition is either an event or counted.
 *
 * A thread that is about to wait first adds itself to a table by address, and tries once more; a
 * releasing thread reads the table before and after the release. So one of the two sees the other,
 * even if the wait is over by then, since the table also counts waits that have begun. If another
 * object has the same entry in the table, a hold is written unnecessarily.
 */
#ifndef ST_HOLD_H
#define ST_HOLD_H

#include <stddef.h>

#include "record/writer.h"

_Static_assert(offsetof(struct st_thread, selective) == offsetof(struct st_thread, special) &&
		   offsetof(struct st_thread, detours) == offsetof(struct st_thread, special) + 1,
	       "ST_SPECIAL_HOLDS");

#define ST_WAITED_PLACES 1024u

extern uint32_t st_waited[ST_WAITED_PLACES] __attribute__((visibility("hidden")));
/* true after the first wait of any thread */
extern bool st_has_waited __attribute__((visibility("hidden")));

static inline uint32_t *st_waiters_of(const void *object)
{
	return &st_waited[((uintptr_t)object >> 3) % ST_WAITED_PLACES];
}

/*
 * A word of the table: the number of present waits; above that, whether a try has failed (tries.h),
 * and the number of waits begun, modulo 2^15.
 */
#define ST_WAITS_NOW  0xffffu
#define ST_TRIED      0x10000u
#define ST_WAITS_ONCE 0x20001u
#define ST_CONTENDED  (ST_WAITS_NOW | ST_TRIED)

static inline uint32_t st_waits_of(const void *object)
{
	return __atomic_load_n(st_waiters_of(object), __ATOMIC_RELAXED);
}

/* Returns true if a thread waits for the object, or for another one with the same place. */
static inline bool st_is_waited_for(const void *object)
{
	return (st_waits_of(object) & ST_WAITS_NOW) != 0;
}

/* Returns the generation of the table, for the end of the wait: a forked child begins another. */
uint32_t st_waits_begin(const void *object) ST_COLD;
void st_waits_end(const void *object, uint32_t generation) ST_COLD;
uint32_t st_waits_generation(void);

/* Notes that the table is in use, so that a forked child clears it. */
void st_waits_note(void);

/* Called in a forked child, in which the parent's waiting threads do not exist. */
void st_waits_forget(void);

/* From now on the thread's uncontended holds are only counted; it has counts. */
void st_holds_count(struct st_thread *self);

/* Makes the acquisitions behind the last event part of the packet. */
void st_holds_commit(struct st_thread *self) ST_COLD;

/* The same in the thread's other streams: the event may release an acquisition in one of them. */
void st_holds_commit_formers(struct st_thread *self) ST_COLD;

/*
 * Called after an acquisition; the gate is closed, and self->counts was not NULL when it was
 * closed.
 */
void st_hold_begin_slowly(struct st_thread *self, enum st_event id, uintptr_t site,
			  const void *object) ST_COLD;

/* Returns false if it needs the slow path. */
static inline __attribute__((always_inline)) bool
st_hold_begin_quickly(struct st_thread *self, enum st_event id, enum st_counted counted,
		      const volatile uintptr_t *site, const void *object)
{
	uint64_t now_ns;

	if (st_unlikely(self->special != ST_SPECIAL_HOLDS) ||
	    st_unlikely(!st_event_write(self, id, site, object, &now_ns)))
		return false;
	st_count(self->counts, counted);
	__asm__ volatile("addq %1, %0" : "+m"(self->stream.pos) : "i"(ST_OP_BYTES) : "memory");
	return true;
}

/* The same if st_sample_is_due() was called. */
static inline __attribute__((always_inline)) void
st_hold_begin_again(struct st_thread *self, enum st_event id, enum st_counted counted,
		    uintptr_t site, const void *object)
{
	volatile uintptr_t kept = site;

	if (st_sample_was_due(self) ||
	    st_unlikely(!st_hold_begin_quickly(self, id, counted, &kept, object)))
		st_hold_begin_slowly(self, id, site, object);
}

static inline __attribute__((always_inline)) void st_hold_begin(struct st_thread *self,
								enum st_event id,
								enum st_counted counted,
								uintptr_t site, const void *object)
{
	volatile uintptr_t kept = site;

	if (st_sample_is_due(self) ||
	    st_unlikely(!st_hold_begin_quickly(self, id, counted, &kept, object)))
		st_hold_begin_slowly(self, id, site, object);
}

/* Called after a try that failed for another reason than that the object is not free. */
void st_hold_refused(struct st_thread *self, enum st_event id, int result, uintptr_t site,
		     const void *object) ST_COLD;

/*
 * Returns true if the thread's newest acquisition is that of this object, is pending, and no thread
 * waits. The thread has counts. *ret_waits is for st_hold_was_waited_for(), after the release.
 */
static inline bool st_hold_is_uncontended(const struct st_thread *self, const void *object,
					  uint32_t *ret_waits)
{
	const uint8_t *pos = self->stream.pos;
	uint64_t newest;

	if (st_unlikely(pos == self->pending)) /* after a fork both are NULL */
		return false;
	__builtin_memcpy(&newest, pos - sizeof(newest), sizeof(newest));
	if (st_unlikely(newest != (uintptr_t)object))
		return false;
	*ret_waits = st_waits_of(object);
	return st_likely((*ret_waits & ST_CONTENDED) == 0);
}

/* Returns true if a thread has begun to wait since. */
static inline bool st_hold_was_waited_for(const void *object, uint32_t waits)
{
	return st_waits_of(object) != waits;
}

/* Called before the release if st_hold_is_uncontended(): */
static inline void st_hold_take_back(struct st_thread *self, enum st_counted counted)
{
	__asm__ volatile("subq %1, %0" : "+m"(self->stream.pos) : "i"(ST_OP_BYTES) : "memory");
	st_count(self->counts, counted);
}

/* ... and after the release, if that failed or a thread has begun to wait. */
void st_hold_was_contended(struct st_thread *self, enum st_event id, int result, uintptr_t site,
			   const void *object) ST_COLD;

/*
 * The same for a pending acquisition below the newest one: locks are not always released in the
 * reverse order. It is taken back after the release, by st_hold_end_older(), if no thread waits.
 */
bool st_hold_is_older(const struct st_thread *self, const void *object, uint32_t *ret_waits);
void st_hold_end_older(struct st_thread *self, enum st_event id, int result, uint32_t waits,
		       uintptr_t site, const void *object);

/*
 * With sync.holds (ST_DETOUR_TIMED) pending acquisitions have the complement of their object, so
 * st_hold_is_uncontended() does not find them, and the fast paths need no further test.
 */
struct st_timing {
	uint64_t begin_ns, end_ns;
	uint16_t site; /* number of the acquisition's site */
	uint8_t op;    /* enum st_event */
	uint32_t waits;
};

/*
 * Before the release: if the newest acquisition is that of this object, and no thread waits, takes
 * it back and returns true; the release is then counted as `id`.
 */
bool st_timed_begin(struct st_thread *self, enum st_event id, const void *object,
		    struct st_timing *ret_timing) ST_COLD;

/* Called after the release. */
void st_timed_end(struct st_thread *self, const struct st_timing *timing, enum st_event id,
		  int result, uintptr_t site, const void *object) ST_COLD;

/* hold_times.c */
void st_timed_add(struct st_thread *self, const struct st_timing *timing, const void *object);

static inline bool st_is_timed(const struct st_thread *self)
{
	return st_unlikely(self->detours & ST_DETOUR_TIMED);
}

#endif
