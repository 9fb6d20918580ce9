/* SPDX-License-Identifier: MIT */
/*
 * A thread's writer: what a wrapper does between two calls of libc.
 *
 * Each thread writes into a packet of its own, without locks.  st_enter() shuts the writer's gate,
 * st_leave() opens it.  Code that runs in between in the same thread (a signal handler, or another
 * context that a handler switched to) finds the gate shut and is given another writer, with a
 * stream of its own; from then on that one is the thread's.  Who shut the first goes on with it,
 * whenever that is.  Nothing is ever called with the gate shut that may block or that may come back
 * into a wrapper.
 *
 * All that a writer has lies in one anonymous page that the kernel empties in a forked child
 * (MADV_WIPEONFORK): an emptied page has no room, so the first event of a child, however it was
 * forked, takes the slow path, sees what happened and begins a stream of the child's own.
 */
#ifndef ST_WRITER_H
#define ST_WRITER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "gmon-mt/format.h"
#include "runtime/clock.h"
#include "runtime/stream.h"
#include "sync-trace/events.h"

#define st_likely(condition)   __builtin_expect(!!(condition), 1)
#define st_unlikely(condition) __builtin_expect(!!(condition), 0)
#define ST_COLD		       __attribute__((noinline, cold))
#define ST_EXPORT	       __attribute__((visibility("default")))

/* The caller's code, as the site of the event. */
#define ST_SITE() ((uintptr_t)__builtin_return_address(0))

/* The same, read from the stack each time, so that no register is kept for it. */
#define ST_SITE_PLACE()                                                                            \
	((const volatile uintptr_t *)((uintptr_t)__builtin_dwarf_cfa() - sizeof(uintptr_t)))
#define ST_SITE_AGAIN() (*ST_SITE_PLACE())

#define ST_SITES_FIRST 128u /* a power of two, as the next */
#define ST_PATHS_FIRST 256u
#define ST_OP_BYTES    16u
#define ST_SAME_BYTES  8u
#define ST_SITE_BITS   16

/* An event in full, for all paths but the fastest. */
struct st_record {
	enum st_event id;
	uint8_t result;
	uintptr_t site; /* return address; 0: none */
	uint64_t object;
	uint64_t extra; /* the shape's last field, if it has one */
	uint64_t now_ns;
};

/* Addresses that can be read. */
struct st_stack {
	uintptr_t start, end;
};

/* The call paths that are defined in a stream (path.c). */
struct st_paths {
	uint64_t *slots;  /* NULL: none yet */
	uint32_t n_slots; /* a power of two */
	uint32_t n_used;
	uint32_t n; /* defined */
};

/* budget.c */
struct st_budget {
	bool watched;		/* recorded in full, and may be switched */
	uint64_t cpu_ns, bytes; /* when last looked at; 0: not yet */
	uint32_t n_segments;
};

struct st_thread {
	/* What the fast path touches. */
	uintptr_t gate; /* 0: open; else shut: the stack pointer of the code that shut it */
	union {
		struct {
			bool selective;	 /* not all is recorded: see st_fates */
			uint8_t detours; /* bits, why events go the long way; others set them */
			bool ust;	 /* events go to LTTng-UST, too */
			bool only_ust;	 /* ... and to no stream: LTTng stamps them */
		};
		uint32_t special; /* all of these, for one test */
	};
	uint64_t *sure_counts; /* `counts`; NULL if st_fates is to be asked before */
	uint64_t *sites;       /* return address << ST_SITE_BITS | number; 0: free; site.c */
	uint32_t sites_mask;   /* places of it, less 1 */
	uint8_t *pending;      /* with `counts`: acquisitions that are not events yet; hold.h */
	/*
	 * The object of the packet's last event: one of ST_SAME_EVENTS may follow it.  NULL: none
	 * may. All code that changes the packet, or writes another event, sets it to NULL.
	 */
	const void *last_object;
	struct gm_clock clock;
	struct gm_stream stream; /* pos and end are NULL after a fork */

	/* The rest. */
	struct st_stack stack; /* of the thread, as far as it is known to be readable */
	struct st_paths paths;
	uint64_t *counts;	/* sync.mode = contended: of what did not wait; else NULL */
	uint64_t *ust_counts;	/* in place of `counts` if `ust`: LTTng's own are not counted */
	struct st_timed *timed; /* sync.holds: of what is counted; NULL: nothing yet; timed.c */
	struct st_budget budget;
	/* Another number for each thread that it serves; 0: emptied by a fork, parked, a stand-in.
	 */
	uint32_t live;
	uint32_t n_sites;
	struct st_thread *next_parked;
	struct st_thread *former; /* writers that this one took the place of, in this thread */
	bool is_spare;		  /* counted in n_spares: its thread has another one */
	struct gm_thread_slot *slot;
	_Alignas(16) uint64_t first_sites[ST_SITES_FIRST]; /* pairs: see st_site_find() */
	uint64_t first_paths[ST_PATHS_FIRST];
};
_Static_assert(sizeof(struct st_thread) <= 4096, "one page");

/*
 * ST_DETOUR_PAUSE: the last event is more than a second old, so the next one's time stamp may need
 * more than 32 bits.
 */
enum {
	ST_DETOUR_UST = 1,
	ST_DETOUR_UNLOADED = 2,
	ST_DETOUR_PAUSE = 4,
	ST_DETOUR_OFF = 8,    /* st_off's: nothing is recorded */
	ST_DETOUR_HOLDS = 16, /* with `counts`: there may be some that are pending */
	ST_DETOUR_CLOCK = 32, /* the thread may not read the TSC */
	ST_DETOUR_TIMED = 64, /* with `counts`: holds that nobody met are timed (sync.holds) */
};

/* The usual value of `special` with `counts`. */
#define ST_SPECIAL_HOLDS ((uint32_t)ST_DETOUR_HOLDS << 8 | 1)

/*
 * The writer of the calling thread, or one of the stand-ins whose gate is always shut: st_newborn
 * (no event yet), st_busy (being made: what happens meanwhile is our own doing), st_off (not to be
 * recorded), st_lost (no memory: its events are counted as lost), st_over (ended: the same).
 */
extern __thread struct st_thread *st_self __attribute__((tls_model("initial-exec")));
extern struct st_thread st_newborn, st_busy, st_off;

/* Given to those two; has never any room, and so takes every event to st_emit(). */
extern struct st_thread st_counting;

/* What becomes of an event, by its id. */
enum st_fate { ST_UNDECIDED = 0, ST_BY_OBJECT, ST_RECORDED, ST_SKIPPED };
extern uint8_t st_fates[ST_N_EVENTS] __attribute__((visibility("hidden")));

/*
 * With ST_BY_OBJECT: what is known of objects (filter.c), by address.  A table never changes its
 * size; a larger one takes its place.
 */
enum st_wanted { ST_UNKNOWN = 0, ST_WANTED, ST_LEFT_OUT, ST_ASK };
#define ST_WANTED_BITS 2

struct st_objects {
	struct st_objects *older;
	uint32_t shift, n_used;
	uint64_t slots[]; /* address << ST_WANTED_BITS | enum st_wanted */
};

extern struct st_objects *st_objects __attribute__((visibility("hidden")));

static inline uint32_t st_object_home(const struct st_objects *table, uintptr_t address)
{
	return (uint32_t)((address * 0x9e3779b97f4a7c15u) >> table->shift);
}

static inline uint32_t st_object_next(const struct st_objects *table, uint32_t home, uint32_t i)
{
	return (home + i) & UINT32_MAX >> (table->shift - 32);
}

#define ST_QUICK_PROBES 8 /* half full, 98 of 100 are found with so many */

/* ST_UNKNOWN, ST_ASK: st_skips_object() knows. */
static inline enum st_wanted st_wants(enum st_event id, const void *object)
{
	const struct st_objects *table;
	uint64_t word, wanted = (uintptr_t)object << ST_WANTED_BITS;
	uint32_t at;

	if (st_fates[id] == ST_SKIPPED)
		return ST_LEFT_OUT;
	if (st_fates[id] == ST_RECORDED)
		return ST_WANTED;
	__builtin_prefetch(object, 1); /* while memory is asked for the slot */
	/* acquire: pairs with the release in table_add() */
	table = __atomic_load_n(&st_objects, __ATOMIC_ACQUIRE);
	at = st_object_home(table, (uintptr_t)object);
	word = __atomic_load_n(&table->slots[at], __ATOMIC_RELAXED);
	for (uint32_t i = 1; (word ^ wanted) > ST_ASK && word != 0 && i < ST_QUICK_PROBES; i++)
		word =
		    __atomic_load_n(&table->slots[st_object_next(table, at, i)], __ATOMIC_RELAXED);
	return (word ^ wanted) <= ST_ASK ? (enum st_wanted)(word ^ wanted) : ST_UNKNOWN;
}

bool st_skips_object(enum st_event id, const void *object, uintptr_t site);

static inline bool st_skips_any(enum st_event id, const void *object, uintptr_t site)
{
	enum st_wanted wanted = st_wants(id, object);

	if (st_likely(wanted == ST_LEFT_OUT))
		return true;
	return wanted != ST_WANTED && st_skips_object(id, object, site);
}

/*
 * Is the operation of a type, or on an object, that is not wanted?  Then it is the bare call.
 * Asked once of an operation, when it begins: later the object may be gone.
 */
static inline bool st_skips(enum st_event id, const void *object, uintptr_t site)
{
	const struct st_thread *self = st_self;

	return st_unlikely(self->selective) && self->sure_counts == NULL &&
	       st_skips_any(id, object, site);
}

/*
 * The same of a condition wait, which is one of its mutex as well, and recorded with either.
 * *mutex becomes NULL if it is recorded for its condition alone.
 */
bool st_skips_wait_slowly(const void *cond, const void **mutex, uintptr_t site);

static inline bool st_skips_wait(const void *cond, const void **mutex, uintptr_t site)
{
	return st_unlikely(st_self->selective) && st_skips_wait_slowly(cond, mutex, site);
}

/* NULL when the call is not to be recorded; the gate is shut otherwise. */
struct st_thread *st_enter_slowly(void) ST_COLD;

/* Writes one event of any shape.  now_ns, unlike the rest, need not be later than all before. */
void st_emit(struct st_thread *self, const struct st_record *record);
void st_emit_parts(struct st_thread *self, enum st_event id, int result, uintptr_t site,
		   const void *object, uint64_t extra, uint64_t now_ns);
/*
 * Before the event of a release while others sleep, or of a wait of wait_ns: how the program came
 * to its call (path.c), if that is wanted.  Nothing of libc's may lie between the program and us.
 */
void st_path_note(struct st_thread *self, uintptr_t site, const void *object, uint64_t wait_ns,
		  uint64_t now_ns) ST_COLD;
#define ST_RELEASES (UINT64_MAX - 1) /* wait_ns of a release */

/* Makes room for an event; its site's number.  0: there is none. */
uint16_t st_emit_ready(struct st_thread *self, uintptr_t site, uint64_t now_ns);

uint64_t st_stamp_slowly(struct st_thread *self) ST_COLD;
uint64_t st_stamp_special(struct st_thread *self);

/*
 * Shuts it.  True: it was shut already.  One instruction, so that of two contexts of a thread only
 * one finds it open; without a lock prefix, since no other thread asks.  It keeps where the frame
 * is, for jumps past it (jump.c).
 */
static inline bool st_gate_shut(struct st_thread *self)
{
	uintptr_t open = 0;
	bool was_open;

	__asm__ volatile("cmpxchgq %%rsp, %0"
			 : "+m"(self->gate), "+a"(open), "=@ccz"(was_open)
			 :
			 : "memory");
	return !was_open;
}

/* In one instruction, which no compiler makes of it. */
static inline bool st_is_special(const struct st_thread *self)
{
	bool special;

	__asm__("cmpl $0, %1" : "=@ccne"(special) : "m"(self->special));
	return special;
}

static inline struct st_thread *st_enter(void)
{
	struct st_thread *self = st_self;

	/* Looked at first: the stand-ins are shared, and not to be written to by all threads. */
	if (st_unlikely(__atomic_load_n(&self->gate, __ATOMIC_RELAXED) != 0) ||
	    st_unlikely(st_gate_shut(self)))
		return st_enter_slowly();
	return self;
}

static inline void st_leave(struct st_thread *self)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&self->gate, 0, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/*
 * The counts of the calling thread, NULL unless only waits are to be recorded.  Who finds them
 * needs no writer for an operation that does not wait: a signal handler, or another context of the
 * thread, may come at any time.
 */
static inline uint64_t *st_counts(void)
{
	return st_unlikely(st_self->selective) ? st_self->counts : NULL;
}

/* The place in the counts of an operation that has one, and 1; else 0. */
extern const uint8_t st_counted_of[ST_N_EVENTS];

/* One instruction: what may come in between has counted before or counts after. */
static inline void st_count(uint64_t *counts, enum st_counted which)
{
	__asm__ volatile("incq %0" : "+m"(counts[which]));
}

static inline void st_count_event(uint64_t *counts, enum st_event id)
{
	st_count(counts, (enum st_counted)(st_counted_of[id] - 1));
}

/* With `ust` it is counted only here, where it is asked whether it is a call of LTTng's own. */
void st_emit_unless_counted(struct st_thread *self, enum st_event id, int result, uintptr_t site,
			    const void *object, uint64_t extra, uint64_t now_ns);

/* Makes the real functions ready to be called. */
static inline void st_ready(void)
{
	struct st_thread *self = st_enter();

	if (self != NULL)
		st_leave(self);
}

/* The time now.  Before a release, so that what it sets free is stamped later. */
static inline uint64_t st_stamp(struct st_thread *self)
{
	struct gm_clock *clock = &self->clock;
	uint64_t ticks;

	if (st_unlikely(st_is_special(self)))
		return st_stamp_special(self);
	ticks = gm_tsc() - clock->tsc_base;
	if (st_unlikely(ticks >= clock->tsc_limit))
		return st_stamp_slowly(self);
	return clock->ns_base + (ticks * clock->mult >> GM_CLOCK_SHIFT);
}

/* The time after a wait: no earlier than its end, whatever the core reorders. */
static inline uint64_t st_stamp_ordered(struct st_thread *self)
{
	__asm__ volatile("lfence" ::: "memory");
	return st_stamp(self);
}

/* The number of a site, if it stands in the first of its places; else more than 16 bits. */
static inline uint64_t st_site_at_home(const struct st_thread *self, uintptr_t site)
{
	return self->sites[site & self->sites_mask] ^ (uint64_t)site << ST_SITE_BITS;
}

/* ... in the second.  It begins anew, so that no register is kept for it. */
static inline uint64_t st_site_beside(const struct st_thread *self, uintptr_t site)
{
	__asm__("" : "+r"(site), "+r"(self));
	return self->sites[(site & self->sites_mask) ^ 1] ^ (uint64_t)site << ST_SITE_BITS;
}

/* ... in either; 0: it stands in neither. */
static inline uint64_t st_site_find(const struct st_thread *self, uintptr_t site)
{
	uint64_t number = st_site_at_home(self, site);

	if (st_unlikely(number > UINT16_MAX))
		number = st_site_beside(self, site);
	return st_likely(number <= UINT16_MAX) ? number : 0;
}

static inline void st_store64(uint8_t *at, uint64_t value)
{
	__builtin_memcpy(at, &value, sizeof(value));
}

typedef void st_emit_long(struct st_thread *self, enum st_event id, int result, uintptr_t site,
			  const void *object, uint64_t extra, uint64_t now_ns);

/*
 * An event of the shape OP: two stores, then the packet's length, which is what makes it exist.
 * Anything unusual (no room, a new site, a library unloaded, a pause of four seconds, a clock
 * behind the last event, a fork) goes the long way; room is asked for first, since after a fork
 * nothing else is there.
 */
static inline __attribute__((always_inline)) void
st_emit_short(struct st_thread *self, enum st_event id, int result, uintptr_t site,
	      const void *object, uint64_t now_ns, st_emit_long *emit_long)
{
	uint8_t *pos = self->stream.pos;
	uint64_t number;

	if (st_unlikely((uintptr_t)pos + ST_OP_BYTES > (uintptr_t)self->stream.end) ||
	    st_unlikely(self->detours != 0) ||
	    st_unlikely(now_ns - self->stream.last_ns > UINT32_MAX) ||
	    st_unlikely((number = st_site_find(self, site)) == 0)) {
		emit_long(self, id, result, site, object, 0, now_ns);
		return;
	}
	st_store64(pos, (uint64_t)id | (uint64_t)(uint32_t)now_ns << 8 |
			    (uint64_t)(uint8_t)result << 40 | number << 48);
	st_store64(pos + 8, (uintptr_t)object);
	self->stream.last_ns = now_ns;
	self->last_object = object;
	/* release: a handler that never comes back leaves an event whole or none */
	__atomic_store_n(&self->stream.pos, pos + ST_OP_BYTES, __ATOMIC_RELEASE);
	/* release: for a reader of the live file, which takes no event beyond it */
	__atomic_store_n(&self->stream.packet->content_bits,
			 (uint64_t)(pos + ST_OP_BYTES - (uint8_t *)self->stream.packet) * 8,
			 __ATOMIC_RELEASE);
}

static inline void st_emit_op(struct st_thread *self, enum st_event id, int result, uintptr_t site,
			      const void *object, uint64_t now_ns)
{
	st_emit_short(self, id, result, site, object, now_ns, st_emit_parts);
}

/*
 * Writes the head that all short events begin with; those without an object have nothing else.  It
 * goes behind the last event, where there is room, but is not yet part of the packet.
 */
static inline __attribute__((always_inline)) void
st_event_put_head(struct st_thread *self, unsigned id, uint64_t number, uint64_t now_ns)
{
	uint8_t *pos = self->stream.pos;
	uint32_t time = (uint32_t)now_ns, result_and_site = (uint32_t)number << 8;

	*pos = (uint8_t)id;
	__builtin_memcpy(pos + 1, &time, sizeof(time));
	__builtin_memcpy(pos + 5, &result_and_site, sizeof(result_and_site));
}

static inline __attribute__((always_inline)) void st_event_put(struct st_thread *self,
							       enum st_event id, uint64_t number,
							       const void *object, uint64_t now_ns)
{
	st_event_put_head(self, id, number, now_ns);
	st_store64(self->stream.pos + 8, (uintptr_t)object);
}

/*
 * For the fastest paths (self->special was 0): is there room for an event, and its site defined?
 * Then the time is now.  A pause is found by st_stamp_slowly(), which is due every 20 ms.
 */
static inline __attribute__((always_inline)) bool st_event_may(struct st_thread *self,
							       const volatile uintptr_t *site,
							       uint64_t *ret_number,
							       uint64_t *ret_now_ns)
{
	const struct gm_clock *clock = &self->clock;
	uint64_t ticks = gm_tsc() - clock->tsc_base, number;

	if (st_unlikely(ticks >= clock->tsc_limit) ||
	    st_unlikely((uintptr_t)self->stream.pos + ST_OP_BYTES > (uintptr_t)self->stream.end))
		return false;
	number = st_site_at_home(self, *site);
	if (st_unlikely(number > UINT16_MAX) &&
	    st_unlikely((number = st_site_beside(self, *site)) > UINT16_MAX))
		return false;
	*ret_number = number;
	*ret_now_ns = clock->ns_base + (ticks * clock->mult >> GM_CLOCK_SHIFT);
	return true;
}

/* Writes one that the caller may make part of the packet.  False: it has to go the long way. */
static inline __attribute__((always_inline)) bool st_event_write(struct st_thread *self,
								 enum st_event id, uintptr_t site,
								 const void *object,
								 uint64_t *ret_now_ns)
{
	volatile uintptr_t kept = site;
	uint64_t number;

	if (st_unlikely(!st_event_may(self, &kept, &number, ret_now_ns)))
		return false;
	st_event_put(self, id, number, object, *ret_now_ns);
	return true;
}

/* The same, to be followed by st_event_commit(). */
static inline __attribute__((always_inline)) bool
st_event_prepare(struct st_thread *self, enum st_event id, uintptr_t site, const void *object)
{
	uint64_t now_ns;

	if (st_unlikely(!st_event_write(self, id, site, object, &now_ns)))
		return false;
	self->stream.last_ns = now_ns;
	return true;
}

static inline __attribute__((always_inline)) void
st_event_commit(struct st_thread *self, struct gm_packet *packet, unsigned n_bytes)
{
	/* A handler that never comes back leaves an event whole or none. */
	__asm__ volatile("addq %1, %0" : "+m"(self->stream.pos) : "i"(n_bytes) : "memory");
	/* For a reader of the live file, which takes no event beyond it. */
	__asm__ volatile("addq %1, %0" : "+m"(packet->content_bits) : "i"(n_bytes * 8) : "memory");
}

/* Of an operation that has not waited, and was not counted by st_counts(). */
static inline void st_emit_unwaited(struct st_thread *self, enum st_event id, int result,
				    uintptr_t site, const void *object, uint64_t now_ns)
{
	st_emit_short(self, id, result, site, object, now_ns, st_emit_unless_counted);
}

/*
 * The event of what sets others free, around the call: stamped before it, written after it, when
 * its result is known.  LTTng stamps what it is given, so there it is written before, as what it
 * will be: `expected`.  A call that fails nevertheless gives it a second event, with the result;
 * one that is sure to fail, and so sets nobody free, is told when it has (ST_REFUSED).
 */
#define ST_REFUSED	(-1)
#define ST_JUST_COUNTED UINT64_MAX /* the time of one that is not written */

struct st_release {
	uint64_t now_ns;
	bool told;     /* LTTng has it, or it was only counted */
	bool sleepers; /* others sleep on the object, as far as the caller can tell */
};

/* False: it was only counted. */
bool st_ust_release(struct st_thread *self, enum st_event id, int expected, uintptr_t site,
		    const void *object, bool sleepers) ST_COLD;
void st_ust_released(struct st_thread *self, enum st_event id, int expected, int result,
		     uintptr_t site, const void *object, uint64_t now_ns) ST_COLD;

static inline struct st_release st_release_begin(struct st_thread *self, enum st_event id,
						 int expected, uintptr_t site, const void *object,
						 bool sleepers)
{
	struct st_release release = {.sleepers = sleepers};

	if (st_unlikely(self->ust) && expected != ST_REFUSED) {
		release.told = true;
		release.now_ns = ST_JUST_COUNTED;
		if (!st_ust_release(self, id, expected, site, object, sleepers))
			return release;
	}
	release.now_ns = st_stamp(self);
	return release;
}

static inline void st_release_end(struct st_thread *self, struct st_release release,
				  enum st_event id, int expected, int result, uintptr_t site,
				  const void *object)
{
	if (st_unlikely(release.sleepers))
		st_path_note(self, site, object, ST_RELEASES, release.now_ns);
	if (st_unlikely(release.told))
		st_ust_released(self, id, expected, result, site, object, release.now_ns);
	else
		st_emit_unwaited(self, id, result, site, object, release.now_ns);
}

/* The whole of it, for operations that are not worth a fast path: stamped now. */
void st_note(enum st_event id, int result, uintptr_t site, const void *object, uint64_t extra);

/* The end of a wait that has begun. */
void st_note_cancelled(uint64_t begin_ns, enum st_event id, uintptr_t site, const void *object,
		       uint64_t extra);

/*
 * Around a call that waits: the gate must be open during it, and the thread may be another (a
 * child of fork) or none (off) after it.  The first returns when the wait began, for the second; 0
 * there: it did not wait, and is only counted where just waits are wanted.
 */
uint64_t st_note_begin_at(struct st_thread *self, enum st_event id, uintptr_t site,
			  const void *object, uint64_t extra, uint64_t now_ns);

static inline uint64_t st_note_begin(struct st_thread *self, enum st_event id, uintptr_t site,
				     const void *object, uint64_t extra)
{
	return st_note_begin_at(self, id, site, object, extra, st_stamp(self));
}

void st_note_end(uint64_t begin_ns, enum st_event id, int result, uintptr_t site,
		 const void *object, uint64_t extra);

#endif
