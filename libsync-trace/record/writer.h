/* SPDX-License-Identifier: MIT */
/*
 * A thread's writer: the work of a wrapper between two calls of libc.
 *
 * Each thread writes into a packet of its own, without locks. st_enter() closes the writer's gate,
 * st_leave() opens it. Code that runs in between in the same thread (a signal handler, or another
 * context that a handler switched to) finds the gate closed and gets another writer, with a stream
 * of its own, which from then on is the thread's. The code that closed the first gate continues
 * with the first writer, at whatever time it resumes. While the gate is closed, no function is
 * called that may block or that may call a wrapper.
 *
 * All data of a writer is in two anonymous pages that the kernel zeroes in a forked child
 * (MADV_WIPEONFORK). A zeroed page has no room for events, so the first event of a child of any
 * kind of fork takes the slow path, which detects the fork and begins a stream for the child.
 */
#ifndef ST_WRITER_H
#define ST_WRITER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "callers/callers.h"
#include "gmon-mt/format.h"
#include "runtime/stream/clock.h"
#include "runtime/stream/stream.h"
#include "runtime/unwind/nodes.h"
#include "runtime/unwind/stack.h"
#include "sync-trace/events.h"
#include "sync-trace/gate.h"

#define st_likely(condition)   __builtin_expect(!!(condition), 1)
#define st_unlikely(condition) __builtin_expect(!!(condition), 0)
#define ST_COLD		       __attribute__((noinline, cold))
#define ST_EXPORT	       __attribute__((visibility("default")))

/* The place of the return address on the stack: the address itself would occupy a register. */
#define ST_SITE_PLACE()                                                                            \
	((const volatile uintptr_t *)((uintptr_t)__builtin_dwarf_cfa() - sizeof(uintptr_t)))

/* The call site of the event: the caller's return address, or its caller's if it is a wrapper. */
#define ST_SITE() st_caller(ST_SITE_PLACE())

#define ST_SITES_FIRST 128u		  /* a power of two */
#define ST_FRAMES_MAX  (8u + ST_PATH_MAX) /* the first ones are of this library */
#define ST_OP_BYTES    GM_SHORT_BYTES
#define ST_SAME_BYTES  8u
#define ST_SITE_BITS   16

/* An event with all fields, for all paths except the fastest. */
struct st_record {
	enum st_event id;
	uint8_t result;
	uintptr_t site; /* return address; 0: none */
	uint64_t object;
	uint64_t extra; /* the last field of the shape, if any */
	uint32_t path;	/* of an io_call, like the next */
	uint8_t call;
	uint64_t now_ns;
};

/* The open run of failed tries (tries.h). */
struct st_tries {
	const void *object; /* NULL: none */
	uintptr_t site;
	uint64_t n_more; /* after the first */
	uint64_t since_ns;
	uint32_t holder;    /* tid; 0: not known */
	uint8_t id, result; /* enum st_event; of the first */
};

/* budget.c */
struct st_budget {
	bool watched;		/* recorded in full, and may be switched */
	uint64_t cpu_ns, bytes; /* at the last check; 0: none yet */
	uint64_t io_bytes;	/* of blocking calls, since then */
	uint32_t n_segments;
};

struct st_thread {
	/* Used by the fast path. */
	uintptr_t gate; /* 0: open; otherwise the stack pointer of the code that closed it */
	union {
		struct {
			bool selective; /* not all events are recorded: see st_fates */
			/* reasons for the slow path, bits; set by other threads, too */
			uint8_t detours;
			bool ust;      /* events also go to LTTng-UST */
			bool only_ust; /* ... and to no stream: LTTng stamps them */
		};
		uint32_t special; /* all of these, for a single test */
	};
	uint64_t *sure_counts; /* `counts`; NULL if st_fates must be checked first */
	uint64_t *sites;       /* return address << ST_SITE_BITS | number; 0: free; site.c */
	uint32_t sites_mask;   /* number of entries, less 1 */
	/* acquisitions before the one that gets a call path; path_sample.c */
	int32_t until_sample;
	/* with `counts`: start of the acquisitions that are not events yet; hold.h */
	uint8_t *pending;
	/*
	 * The object of the packet's last event: one of ST_SAME_EVENTS may follow it. NULL: none
	 * may. All code that changes the packet, or writes another event, sets it to NULL.
	 */
	const void *last_object;
	struct gm_clock clock;
	struct gm_stream stream; /* pos and end are NULL after a fork */

	/* Used by other paths. */
	struct gm_stack stack; /* the part of the thread's stack known to be readable */
	struct gm_nodes paths;
	uint64_t conditionals; /* as the stream's last event of that name says */
	uint32_t random;       /* of until_sample */
	uint32_t end_path;     /* node of the path on which the thread ends; 0: not known (yet) */
	/* sync.mode = contended: counts of operations without a wait; otherwise NULL */
	uint64_t *counts;
	/* instead of `counts` if `ust`: LTTng's own calls are not counted */
	uint64_t *ust_counts;
	struct st_timed
	    *timed; /* sync.holds: times of counted holds; NULL: none yet; hold_times.c */
	struct st_budget budget;
	struct st_tries tries;
	/*
	 * A different number for each thread that it serves; 0: zeroed by a fork, parked, or a
	 * stand-in.
	 */
	uint32_t live;
	uint32_t n_sites;
	struct st_thread *next_parked;
	struct st_thread *former; /* writers that this one replaced in this thread */
	bool is_spare;		  /* counted in n_spares: its thread has another one */
	struct gm_thread_slot *slot;
	struct st_accesses *accesses; /* NULL: none yet, or after a fork; access_stream.c */
	_Alignas(16) uint64_t first_sites[ST_SITES_FIRST]; /* pairs: see st_site_find() */
	uint64_t frames[ST_FRAMES_MAX];			   /* of the path that is being recorded */
};
_Static_assert(sizeof(struct st_thread) <= 4096, "one page");

/* The memory of a writer. A thread that records no call path does not use the second page. */
struct st_writer {
	_Alignas(4096) struct st_thread thread;
	_Alignas(4096) struct gm_node first_nodes[GM_NODES_FIRST];
};

/*
 * ST_DETOUR_PAUSE: the last event is more than a second old, so the next time stamp may need more
 * than 32 bits.
 */
enum {
	/*
	 * events also go to LTTng-UST, or conditionals are counted, or accesses or the order of
	 * locks are recorded
	 */
	ST_DETOUR_ALWAYS = 1,
	ST_DETOUR_UNLOADED = 2,
	ST_DETOUR_PAUSE = 4,
	ST_DETOUR_OFF = 8,     /* for st_off: nothing is recorded */
	ST_DETOUR_HOLDS = 16,  /* with `counts`: some may be pending */
	ST_DETOUR_CLOCK = 32,  /* the thread must not read the TSC */
	ST_DETOUR_TIMED = 64,  /* with `counts`: uncontended holds are timed (sync.holds) */
	ST_DETOUR_TRIES = 128, /* with `counts`: a run of failed tries is open (tries.h) */
};

/* The usual value of `special` with `counts`. */
#define ST_SPECIAL_HOLDS ((uint32_t)ST_DETOUR_HOLDS << 8 | 1)

/*
 * The writer of the calling thread, or a stand-in whose gate is always closed: st_newborn (no event
 * yet), st_busy (a writer is being made: calls are our own), st_off (not recorded), st_lost (no
 * memory: events are counted as lost), st_over (ended: the same).
 */
extern __thread struct st_thread *st_self __attribute__((tls_model("initial-exec")));
extern struct st_thread st_newborn, st_busy, st_off;

/* The conditionals that the calling thread has executed (conditionals.c). */
extern __thread uint64_t st_conditionals
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* For st_lost and st_over: never has room, and so sends every event to st_emit(). */
extern struct st_thread st_counting;

/* The treatment of an event, by its id. */
enum st_fate { ST_UNDECIDED = 0, ST_BY_OBJECT, ST_RECORDED, ST_SKIPPED };
extern uint8_t st_fates[ST_N_EVENTS] __attribute__((visibility("hidden")));

/*
 * For ST_BY_OBJECT: the decisions on objects (filter.c), by address. A table never changes its
 * size; a larger one is put in front of it.
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

#define ST_QUICK_PROBES 8 /* in a table half full, 98 of 100 are found within so many */

/* ST_UNKNOWN, ST_ASK: call st_skips_object(). */
static inline enum st_wanted st_wants(enum st_event id, const void *object)
{
	const struct st_objects *table;
	uint64_t word, wanted = (uintptr_t)object << ST_WANTED_BITS;
	uint32_t at;

	if (st_fates[id] == ST_SKIPPED)
		return ST_LEFT_OUT;
	if (st_fates[id] == ST_RECORDED)
		return ST_WANTED;
	__builtin_prefetch(object, 1); /* overlaps with the load of the slot */
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

/* The call site of the operation that the thread begins, for a live replay (live/). */
extern __thread uintptr_t st_turn_site
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline bool st_skips_any(enum st_event id, const void *object, uintptr_t site)
{
	enum st_wanted wanted = st_wants(id, object);

	st_turn_site = site;
	if (st_likely(wanted == ST_LEFT_OUT))
		return true;
	return wanted != ST_WANTED && st_skips_object(id, object, site);
}

/*
 * Returns true if the operation has a type or an object that is not recorded. Then only the real
 * call is made. Called once, when the operation begins: later the object may no longer exist.
 */
static inline bool st_skips(enum st_event id, const void *object, uintptr_t site)
{
	const struct st_thread *self = st_self;

	return st_unlikely(self->selective) && self->sure_counts == NULL &&
	       st_skips_any(id, object, site);
}

/*
 * The same for a condition wait, which is also an operation on its mutex, and recorded with either.
 * *mutex becomes NULL if only its condition is recorded.
 */
bool st_skips_wait_slowly(const void *cond, const void **mutex, uintptr_t site);

static inline bool st_skips_wait(const void *cond, const void **mutex, uintptr_t site)
{
	return st_unlikely(st_self->selective) && st_skips_wait_slowly(cond, mutex, site);
}

/* Returns NULL if the call is not recorded; otherwise the gate is closed. */
struct st_thread *st_enter_slowly(void) ST_COLD;

/* Writes one event of any shape. Unlike elsewhere, now_ns may be earlier than the last event. */
void st_emit(struct st_thread *self, const struct st_record *record);
void st_emit_parts(struct st_thread *self, enum st_event id, int result, uintptr_t site,
		   const void *object, uint64_t extra, uint64_t now_ns);
/*
 * Before the event of a release while others sleep, or of a wait of wait_ns: writes the call path
 * (path.c), if enabled. No frame of libc may be between the program and this library.
 */
void st_path_note(struct st_thread *self, uintptr_t site, const void *object, uint64_t wait_ns,
		  uint64_t now_ns) ST_COLD;
#define ST_RELEASES (UINT64_MAX - 1) /* wait_ns of a release */

/*
 * The thread ends by the call at `site`, or is cancelled in it: keeps the call path (thread_end.c).
 */
void st_thread_ends_at(struct st_thread *self, uintptr_t site, uint64_t now_ns) ST_COLD;

#define ST_SAMPLED                                                                                 \
	(UINT64_MAX - 2) /* wait_ns of an acquisition that did not wait (path_sample.c) */

/*
 * Called once for each acquisition that did not wait. Returns true if it gets a call path: the
 * event is then written on a slow path, which calls st_sample_note() before. Two instructions.
 */
static inline __attribute__((always_inline)) bool st_sample_is_due(struct st_thread *self)
{
	bool is_due;

	__asm__ volatile("decl %0" : "+m"(self->until_sample), "=@ccs"(is_due));
	return st_unlikely(is_due);
}

static inline bool st_sample_was_due(const struct st_thread *self)
{
	return st_unlikely(self->until_sample < 0);
}

void st_sample_note(struct st_thread *self, uintptr_t site, const void *object,
		    uint64_t now_ns) ST_COLD;

/* Makes room for an event. Returns the number of its site; 0: no room. */
uint16_t st_emit_ready(struct st_thread *self, uintptr_t site, uint64_t now_ns);

uint64_t st_stamp_slowly(struct st_thread *self) ST_COLD;
uint64_t st_stamp_special(struct st_thread *self);

/*
 * The object is about to be written to: asks for its cache line. Without that, the first read of
 * the object gets a line that another CPU has changed, and the first write asks for it again.
 * Compilers generate a prefetch for reading.
 */
static inline void st_claim(const void *object)
{
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)object));
}

/* One instruction; compilers do not generate it. */
static inline bool st_is_special(const struct st_thread *self)
{
	bool special;

	__asm__("cmpl $0, %1" : "=@ccne"(special) : "m"(self->special));
	return special;
}

static inline struct st_thread *st_enter(void)
{
	struct st_thread *self = st_self;

	/* Tested first: the stand-ins are shared, and not all threads should write to them. */
	if (st_unlikely(__atomic_load_n(&self->gate, __ATOMIC_RELAXED) != 0) ||
	    st_unlikely(st_gate_shut(&self->gate)))
		return st_enter_slowly();
	return self;
}

static inline void st_leave(struct st_thread *self)
{
	st_gate_open(&self->gate);
}

/* True if a run of failed tries is open: an operation that is not one of them is an event. */
static inline bool st_tries_are_open(const struct st_thread *self)
{
	return st_unlikely((self->detours & ST_DETOUR_TRIES) != 0);
}

/*
 * The counts of the calling thread, or NULL unless only waits are recorded. With them, an operation
 * that does not wait needs no writer: a signal handler, or another context of the thread, may run
 * at any time.
 */
static inline uint64_t *st_counts(void)
{
	const struct st_thread *self = st_self;

	return st_unlikely(self->selective) && !st_tries_are_open(self) ? self->counts : NULL;
}

/* The index of the counted operation, plus 1; 0: not counted. */
extern const uint8_t st_counted_of[ST_N_EVENTS];

/* One instruction: an interrupting handler counts before or after it. */
static inline void st_count(uint64_t *counts, enum st_counted which)
{
	__asm__ volatile("incq %0" : "+m"(counts[which]));
}

static inline void st_count_event(uint64_t *counts, enum st_event id)
{
	st_count(counts, (enum st_counted)(st_counted_of[id] - 1));
}

/* Called if it becomes an event after all. */
static inline void st_uncount_event(uint64_t *counts, enum st_event id)
{
	__asm__ volatile("decq %0" : "+m"(counts[st_counted_of[id] - 1]));
}

/*
 * With `ust` the operation is counted only here, after a check that it is not one of LTTng's own.
 */
void st_emit_unless_counted(struct st_thread *self, enum st_event id, int result, uintptr_t site,
			    const void *object, uint64_t extra, uint64_t now_ns);

/* Makes the real functions available. */
static inline void st_ready(void)
{
	struct st_thread *self = st_enter();

	if (self != NULL)
		st_leave(self);
}

/* Returns the time. Before a release, so that operations that it enables are stamped later. */
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

/* Returns the time after a wait: no earlier than its end, despite out-of-order execution. */
static inline uint64_t st_stamp_ordered(struct st_thread *self)
{
	__asm__ volatile("lfence" ::: "memory");
	return st_stamp(self);
}

/* Returns the number of a site if it is in the first place for it, otherwise more than 16 bits. */
static inline uint64_t st_site_at_home(const struct st_thread *self, uintptr_t site)
{
	return self->sites[site & self->sites_mask] ^ (uint64_t)site << ST_SITE_BITS;
}

/* ... in the second place. Computed anew, so that it occupies no register. */
static inline uint64_t st_site_beside(const struct st_thread *self, uintptr_t site)
{
	__asm__("" : "+r"(site), "+r"(self));
	return self->sites[(site & self->sites_mask) ^ 1] ^ (uint64_t)site << ST_SITE_BITS;
}

/* ... in either place; 0: in neither. */
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
 * Writes an event of the shape OP: two stores, then the packet's length, which makes it valid.
 * Special cases (no room, a new site, an unloaded library, a pause of four seconds, a clock behind
 * the last event, a fork) take the slow path. Room is tested first, since after a fork all other
 * data is zero.
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
	/*
	 * release: pairs with the code that a handler interrupts or leaves: an event is whole or
	 * absent
	 */
	__atomic_store_n(&self->stream.pos, pos + ST_OP_BYTES, __ATOMIC_RELEASE);
	/* release: a reader of the live file takes no event beyond this length */
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
 * Writes the header with which all short events begin; those without an object have nothing else.
 * It is stored behind the last event, where there is room, but is not part of the packet yet.
 * Returns that place.
 */
static inline __attribute__((always_inline)) uint8_t *
st_event_put_head(struct st_thread *self, unsigned id, uint64_t number, uint64_t now_ns)
{
	uint8_t *pos = self->stream.pos;
	uint32_t time = (uint32_t)now_ns, result_and_site = (uint32_t)number << 8;

	*pos = (uint8_t)id;
	__builtin_memcpy(pos + 1, &time, sizeof(time));
	__builtin_memcpy(pos + 5, &result_and_site, sizeof(result_and_site));
	return pos;
}

static inline __attribute__((always_inline)) void st_event_put(struct st_thread *self,
							       enum st_event id, uint64_t number,
							       const void *object, uint64_t now_ns)
{
	uint8_t *pos = st_event_put_head(self, id, number, now_ns);

	st_store64(pos + 8, (uintptr_t)object);
}

/*
 * For the fastest paths (self->special was 0): returns true, with the time, if there is room for an
 * event and its site is defined. st_stamp_slowly(), which runs at least every 20 ms, detects a
 * pause.
 */
static inline __attribute__((always_inline)) bool st_event_may(struct st_thread *self,
							       const volatile uintptr_t *site,
							       uint64_t *ret_number,
							       uint64_t *ret_now_ns)
{
	const struct gm_clock *clock = &self->clock;
	uint64_t ticks = gm_tsc() - clock->tsc_base, number;

	if (st_unlikely(ticks >= clock->tsc_limit) ||
	    st_unlikely((uintptr_t)self->stream.pos >= (uintptr_t)self->stream.short_end))
		return false;
	number = st_site_at_home(self, *site);
	if (st_unlikely(number > UINT16_MAX) &&
	    st_unlikely((number = st_site_beside(self, *site)) > UINT16_MAX))
		return false;
	*ret_number = number;
	*ret_now_ns = clock->ns_base + (ticks * clock->mult >> GM_CLOCK_SHIFT);
	return true;
}

/*
 * Stores an event that the caller may make part of the packet. Returns false if it needs the slow
 * path.
 */
static inline __attribute__((always_inline)) bool
st_event_write(struct st_thread *self, enum st_event id, const volatile uintptr_t *site,
	       const void *object, uint64_t *ret_now_ns)
{
	uint64_t number;

	if (st_unlikely(!st_event_may(self, site, &number, ret_now_ns)))
		return false;
	st_event_put(self, id, number, object, *ret_now_ns);
	return true;
}

/* The same, to be followed by st_event_commit(). */
static inline __attribute__((always_inline)) bool st_event_prepare(struct st_thread *self,
								   enum st_event id,
								   const volatile uintptr_t *site,
								   const void *object)
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
	/* If a handler never returns, the event is whole or absent. */
	__asm__ volatile("addq %1, %0" : "+m"(self->stream.pos) : "i"(n_bytes) : "memory");
	/* A reader of the live file takes no event beyond this length. */
	__asm__ volatile("addq %1, %0" : "+m"(packet->content_bits) : "i"(n_bytes * 8) : "memory");
}

/* For an operation that did not wait, and was not counted by st_counts(). */
static inline void st_emit_unwaited(struct st_thread *self, enum st_event id, int result,
				    uintptr_t site, const void *object, uint64_t now_ns)
{
	st_emit_short(self, id, result, site, object, now_ns, st_emit_unless_counted);
}

/* The same for an acquisition; st_sample_is_due() was called. */
static inline void st_emit_acquired(struct st_thread *self, enum st_event id, uintptr_t site,
				    const void *object)
{
	uint64_t now_ns = st_stamp(self);

	if (st_sample_was_due(self))
		st_sample_note(self, site, object, now_ns);
	st_emit_unwaited(self, id, 0, site, object, now_ns);
}

/*
 * The event of a release, around the call: stamped before it, and written after it, when its result
 * is known. LTTng stamps events when it receives them, so there the event is passed before the
 * call, with the `expected` result. If the call fails nevertheless, a second event has its result.
 * A call that is certain to fail, and so wakes no thread, is passed afterwards (ST_REFUSED).
 */
#define ST_REFUSED	(-1)
#define ST_JUST_COUNTED UINT64_MAX /* the time of an operation that is only counted */

struct st_release {
	uint64_t now_ns;
	bool is_done;  /* passed to LTTng, or only counted */
	bool sleepers; /* others sleep on the object, as far as the caller can see */
};

/* Returns false if it was only counted. */
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
		release.is_done = true;
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
	if (st_unlikely(release.is_done))
		st_ust_released(self, id, expected, result, site, object, release.now_ns);
	else
		st_emit_unwaited(self, id, result, site, object, release.now_ns);
}

/* Writes a complete event, stamped now, for operations without a fast path. */
void st_note(enum st_event id, int result, uintptr_t site, const void *object, uint64_t extra);

/* The end of a wait whose begin was written, without a call path: it does not return now. */
void st_note_cut(uint64_t begin_ns, enum st_event id, int result, uintptr_t site,
		 const void *object, uint64_t extra);

/*
 * Called around a call that waits: the gate must be open during it, and the thread may have another
 * writer (a child of fork) or none (off) after it. The first returns the begin time, for the
 * second; 0 there: it did not wait, and is only counted if only waits are recorded.
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
