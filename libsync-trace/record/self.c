/* SPDX-License-Identifier: MIT */
/*
 * A thread's writers from its first event to its last.
 *
 * Code arrives here if it found a gate closed: the thread has no writer yet, must not have one, or
 * other code of this thread is in mid-event. The stand-ins for the first two cases are static and
 * shared; their gates stay closed.
 *
 * Code in mid-event may have been interrupted by a handler and resume after it; it may be a context
 * that a handler switched away from, which may resume at any time; or it may have been left for
 * good. It is not known which (stacks may lie inside stacks), and need not be: its writer is left
 * alone until its gate opens, and the thread continues with another one. A jump past its frame
 * opens the gate (jump.c).
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

#include "record/hold.h"
#include "record/internal.h"
#include "libc/real.h"
#include "runtime/files/file.h"
#include "runtime/files/helper_task.h"
#include "runtime/process/process.h"
#include "runtime/process/threads.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/lock.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define GATE_SHUT	1
#define WRITERS_CHECKED 2    /* by each thread that starts; fewer threads end meanwhile */
#define FORMERS_MAX	1024 /* per process: each takes 4 KiB of memory and a file */
/*
 * The writers of one thread that may be in the middle of an event at the same time.  Without this
 * limit, a handler of a forced signal whose own events raise that signal again (SIGSYS of a filter)
 * uses up any stack.
 */
#define NESTED_MAX    8
#define RETRY_NS      100000000u
#define RETRY_AT_LOST 16u /* the clock is read once in this many losses */

struct st_thread st_newborn = {.gate = GATE_SHUT, .selective = true};
struct st_thread st_busy = {.gate = GATE_SHUT, .selective = true};
struct st_thread st_off = {.gate = GATE_SHUT, .detours = ST_DETOUR_OFF};
static struct st_thread st_lost = {.gate = GATE_SHUT, .selective = true};
static struct st_thread st_over = {.gate = GATE_SHUT, .selective = true};
static struct st_thread st_sealed = {.gate = GATE_SHUT, .detours = ST_DETOUR_OFF};
struct st_thread st_counting = {.detours = ST_DETOUR_CLOCK}; /* never reads the TSC */

static int n_spares; /* writers in use beyond one for each thread */
bool st_memory_is_wiped;

__thread struct st_thread *st_self = &st_newborn;

/* The thread makes or exchanges a writer: st_self is st_busy meanwhile. */
static __thread struct gm_inside inside __attribute__((tls_model("initial-exec")));
/* signal mask before that */
static __thread uint64_t mask_before __attribute__((tls_model("initial-exec")));

/*
 * A thread with st_lost tries again at this time; it reads the clock once in RETRY_AT_LOST events.
 */
static __thread uint64_t retry_ns __attribute__((tls_model("initial-exec")));
static __thread uint32_t n_lost __attribute__((tls_model("initial-exec")));
static __thread uint16_t lost_why __attribute__((tls_model("initial-exec")));

/* The slot of a sealed thread, where its events are counted without a system call. */
static __thread struct gm_thread_slot *sealed_slot __attribute__((tls_model("initial-exec")));

/* The writer that the thread's creator has made for it; NULL: none, or it was taken. */
static __thread struct st_thread *given __attribute__((tls_model("initial-exec")));

struct st_thread *st_thread_give(struct st_thread *writer)
{
	struct st_thread *before = given;

	given = writer;
	return before;
}

void *st_memory_new(size_t size_bytes)
{
	void *memory = gm_sys_mmap(size_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* If the kernel does not support this, a fork handler does it (fork.c). */
	if (memory != NULL &&
	    gm_syscall3(SYS_madvise, (long)memory, (long)size_bytes, MADV_WIPEONFORK) == 0)
		st_memory_is_wiped = true;
	return memory;
}

void st_slot_count_lost(struct gm_thread_slot *slot, uint64_t n, uint16_t why)
{
	__atomic_fetch_add(&slot->events_lost, n, __ATOMIC_RELAXED);
	gm_loss_add(&slot->events_why, &slot->stalled, GM_STALLED_EVENTS, why);
}

void st_count_lost(struct st_thread *self, uint64_t n)
{
	self->stream.n_lost += n;
	st_slot_count_lost(self->slot, n, self->stream.why);
	if (self->stream.packet != NULL)
		self->stream.packet->events_discarded = self->stream.n_lost;
}

void st_count_left(struct st_thread *self)
{
	st_slot_count_lost(self->slot, 1, GM_LOSS_LEFT);
}

static bool is_nested_deeply(const struct st_thread *self)
{
	unsigned n = 0;

	for (; self != NULL && n < NESTED_MAX; self = self->former)
		n += self->gate != 0;
	return n == NESTED_MAX;
}

/* The reason why an event was not written, for a thread that has a slot. */
static uint16_t why_lost(void)
{
	if (st_self->live && is_nested_deeply(st_self))
		return GM_LOSS_TOO_MANY;
	if (st_self->live && __atomic_load_n(&n_spares, __ATOMIC_RELAXED) >= FORMERS_MAX)
		return GM_LOSS_LEFT;
	if (st_process_is_opening())
		return GM_LOSS_STALLED;
	return st_self == &st_lost ? lost_why : GM_LOSS_MEMORY;
}

static uint16_t why_no_slot(void)
{
	if (st_process_is_forgetting() || (gm_process_get() == NULL && st_process_is_opening()))
		return GM_LOSS_STALLED;
	return gm_process_get() != NULL ? gm_threads_why() : gm_process_why();
}

void st_count_lost_anywhere(void)
{
	uint32_t index;
	struct gm_thread_slot *slot = NULL;
	uint16_t why;

	/* The thread's slot is closed already; a new one would make it appear as two threads. */
	if (st_self == &st_over || gm_sealed) {
		gm_process_count_lost(GM_LIB_SYNC, 1, gm_sealed ? GM_LOSS_COUNTING_ONLY : 0);
		return;
	}
	/* In a child of fork the mappings may still be its parent's. */
	if (gm_process_get() != NULL && !st_process_is_forgetting())
		slot = gm_thread_self(&index);
	if (slot != NULL)
		st_slot_count_lost(slot, 1, st_process_is_lost(&why) ? why : why_lost());
	else
		gm_process_count_lost(GM_LIB_SYNC, 1, why_no_slot());
}

/* Tells the fast paths whether the thread may read the TSC. */
static void show_clock(struct st_thread *self)
{
	if (gm_clock_faults)
		__atomic_fetch_or(&self->detours, ST_DETOUR_CLOCK, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&self->detours, (uint8_t)~ST_DETOUR_CLOCK, __ATOMIC_RELAXED);
}

static uint32_t next_life(void)
{
	static uint32_t lives;
	uint32_t life;

	do
		life = __atomic_add_fetch(&lives, 1, __ATOMIC_RELAXED);
	while (life == 0);
	return life;
}

/* Makes it the calling thread's writer: a new one, one taken over, or one zeroed by a fork. */
static bool thread_attach(struct st_thread *self)
{
	uint32_t index = 0;

	self->slot = gm_thread_self(&index);
	if (self->slot == NULL)
		return false;
	self->stream.index = index;
	self->stream.tid = self->slot->tid;
	if (self->sites == NULL)
		st_sites_init(self);
	self->clock.error_ns = 0;
	self->selective = st_is_selective();
	self->stack = (struct gm_stack){0, 0};
	self->end_path = 0;
	st_sample_start(self);
	/* release: pairs with the acquire in st_writer_check(); slot and tid are this thread's */
	__atomic_store_n(&self->live, next_life(), __ATOMIC_RELEASE);
	self->ust = st_process_sink() != GM_SINK_NATIVE;
	if (self->ust)
		__atomic_fetch_or(&self->detours, ST_DETOUR_ALWAYS, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&self->detours, (uint8_t)~ST_DETOUR_ALWAYS, __ATOMIC_RELAXED);
	self->only_ust = st_process_sink() == GM_SINK_LTTNG;
	self->budget = (struct st_budget){.watched = st_budget_watches};
	st_tries_forget(self);
	if (!self->budget.watched)
		*(self->ust ? &self->ust_counts : &self->counts) = st_counts_row(index);
	self->sure_counts = st_is_picking() ? NULL : self->counts;
	self->stream.trace = st_process_trace();
	__atomic_fetch_and(&self->detours, (uint8_t) ~(ST_DETOUR_HOLDS | ST_DETOUR_TIMED),
			   __ATOMIC_RELAXED);
	if (self->counts != NULL)
		st_holds_count(self);
	self->conditionals = 0;
	st_conditionals_look(self);
	gm_clock_thread_look();
	show_clock(self);
	gm_stream_resume(&self->stream, st_stamp(self));
	self->pending = self->stream.pos;
	self->last_object = NULL;
	gm_thread_watch();
	if (st_access != NULL)
		st_access_begin(self, self->stream.last_ns);
	return true;
}

/* Returns the stand-in for a thread of a process that is not recorded, or not yet. */
static struct st_thread *unrecorded(void)
{
	uint16_t why;

	if (st_process_is_opening() || (gm_process_get() == NULL && !gm_process_is_off()))
		return &st_newborn;
	return st_process_is_lost(&why) ? &st_lost : &st_off;
}

/* Called at the thread's first event. Signals are blocked, st_self is st_busy. */
static struct st_thread *thread_new(void)
{
	struct st_thread *self;

	if (!st_process_open())
		return unrecorded();
	st_pool_check(WRITERS_CHECKED);
	self = given;
	given = NULL;
	if (self == NULL)
		self = st_pool_take();
	lost_why = GM_LOSS_MEMORY;
	if (self == NULL)
		return &st_lost;
	if (!thread_attach(self)) {
		lost_why = gm_threads_why();
		st_pool_put(self);
		return &st_lost;
	}
	st_path_stack_init(self);
	return self;
}

/*
 * Makes the thread record nothing until busy_end(): neither handlers of forced signals nor
 * functions of the program that the runtime calls.
 */
static inline __attribute__((always_inline)) void busy_begin(uint64_t mask)
{
	gm_inside_enter(&inside, gm_frame());
	mask_before = mask;
	st_self = &st_busy;
}

static void busy_end(struct st_thread *self)
{
	gm_inside_leave(&inside);
	if (self == &st_lost)
		retry_ns = gm_clock_ns() + RETRY_NS;
	st_self = self;
}

static bool may_try_again(void)
{
	return ++n_lost % RETRY_AT_LOST == 0 && !gm_sealed && gm_clock_ns() >= retry_ns;
}

static bool is_stand_in(const struct st_thread *self);

void gm_sealing(bool begins)
{
	(void)begins; /* there is no timer */
}

void gm_interposed(bool pin)
{
	struct st_thread *self = st_self;

	(void)pin; /* an event never gets an earlier time than the last one */
	if (is_stand_in(self))
		return;
	/* Strict mode: without a clock no event can be written. */
	if (gm_sealed && gm_clock_faults) {
		sealed_slot = self->slot;
		st_self = &st_sealed;
		return;
	}
	for (; self != NULL; self = self->former)
		show_clock(self);
}

/* If a handler jumped out of a busy section, the thread is sealed, see gm_calls_miss(). */
static void check_busy(void)
{
	if (inside.tid == 0)
		return;
	if (gm_inside_enter(&inside, gm_frame()) != GM_ENTRY_LEFT) {
		/* Before the process is open, all calls are our own. */
		if (st_process_is_open())
			gm_process_count_lost(GM_LIB_SYNC, 1, GM_LOSS_COUNTING_ONLY);
		return;
	}
	st_process_left(inside.tid);
	gm_inside_leave(&inside);
	gm_signals_unblock_left(mask_before);
	st_self = &st_sealed;
}

/* Counts an event that cannot be written, since no system call may be made. */
static void count_sealed(void)
{
	if (sealed_slot != NULL)
		st_slot_count_lost(sealed_slot, 1, GM_LOSS_COUNTING_ONLY);
	else
		gm_process_count_lost(GM_LIB_SYNC, 1, GM_LOSS_COUNTING_ONLY);
}

static struct st_thread *born(uintptr_t frame)
{
	struct st_thread *self;
	uint64_t mask;

	gm_signals_block(&mask);
	busy_begin(mask);
	self = st_process_check_fork() ? thread_new() : &st_newborn;
	if (self->live)
		self->gate = frame;
	busy_end(self);
	gm_signals_restore(mask);
	if (self == &st_lost || self == &st_newborn)
		return &st_counting;
	return self->live ? self : NULL;
}

bool st_thread_reborn(struct st_thread *self)
{
	uintptr_t frame = self->gate;
	bool is_known;
	uint64_t mask;

	if (gm_seal_is_set()) {
		gm_process_count_lost(GM_LIB_SYNC, 1, GM_LOSS_COUNTING_ONLY);
		return false;
	}
	gm_signals_block(&mask);
	busy_begin(mask);
	is_known = st_process_check_fork();
	__builtin_memset(self, 0, sizeof(*self));
	self->gate = frame;
	if (!is_known)
		busy_end(&st_newborn);
	else if (!st_process_open())
		busy_end(unrecorded());
	else if (!thread_attach(self)) {
		lost_why = gm_threads_why();
		busy_end(&st_lost);
	} else
		busy_end(self);
	if (st_self == &st_lost || st_self == &st_newborn)
		st_count_lost_anywhere();
	gm_signals_restore(mask);
	return self->live;
}

/* Parks the writer for the next thread. */
static void park(struct st_thread *self)
{
	if (self->is_spare)
		__atomic_fetch_sub(&n_spares, 1, __ATOMIC_RELAXED);
	self->is_spare = false;
	st_pool_put(self);
}

void st_spares_forget(void)
{
	if (n_spares != 0)
		n_spares = 0;
}

/* Takes an open writer from those that `self` has replaced. NULL: all are closed. */
static struct st_thread *former_take(struct st_thread *self)
{
	for (struct st_thread **link = &self->former; *link != NULL; link = &(*link)->former) {
		struct st_thread *former = *link;

		if (former->gate == 0) {
			*link = former->former;
			/* Neither the pool nor the writer's next thread knows the list. */
			former->former = NULL;
			/*
			 * The release of a pending acquisition will be recorded in another stream.
			 */
			st_tries_end(former);
			st_holds_commit(former);
			return former;
		}
	}
	return NULL;
}

static struct st_thread *former_new(void)
{
	struct st_thread *self = NULL;

	if (__atomic_fetch_add(&n_spares, 1, __ATOMIC_RELAXED) < FORMERS_MAX)
		self = st_pool_take();
	if (self != NULL && thread_attach(self)) {
		self->is_spare = true;
		return self;
	}
	if (self != NULL)
		st_pool_put(self);
	__atomic_fetch_sub(&n_spares, 1, __ATOMIC_RELAXED);
	return NULL;
}

/*
 * Takes over the clock of the replaced writer, so that the thread's events are in order; unless
 * that clock is being synchronized, or is behind the last event of the new writer.
 */
static void clock_take(struct st_thread *self, const struct st_thread *held)
{
	struct gm_clock clock = held->clock;
	uint64_t now_ns;

	if (gm_clock_faults || gm_clock_is_due(&clock))
		return;
	now_ns = gm_clock_read(&clock);
	if (now_ns < self->stream.last_ns)
		return;
	self->clock = clock;
	st_pause_note(self, now_ns);
}

/*
 * Other code is in mid-event: gives the thread another writer, whose gate is closed for the caller.
 */
static struct st_thread *replaced(uintptr_t frame)
{
	struct st_thread *held, *self;
	uint64_t mask;

	gm_signals_block(&mask);
	self = held = st_self;
	if (st_gate_shut(&held->gate)) {
		busy_begin(mask);
		self = former_take(held);
		if (self == NULL && !is_nested_deeply(held))
			self = former_new();
		if (self != NULL) {
			self->gate = frame;
			self->former = held;
			clock_take(self, held);
		}
		busy_end(self != NULL ? self : held);
	} else {
		held->gate = frame; /* the frame of the caller, not of this function */
	}
	gm_signals_restore(mask);
	return self != NULL ? self : &st_counting;
}

struct st_thread *st_enter_slowly(void)
{
	struct st_thread *self = st_self;
	uintptr_t frame = (uintptr_t)__builtin_dwarf_cfa(); /* the wrapper's stack pointer */
	int saved_errno = errno;

	if (self == &st_busy) {
		check_busy();
		self = st_self;
	}
	if (self == &st_newborn && gm_seal_newborn())
		st_self = self = &st_sealed;
	if (self == &st_newborn || (self == &st_lost && may_try_again()))
		self = st_process_waits() ? &st_counting : born(frame);
	else if (self == &st_off)
		self = NULL;
	else if (self == &st_sealed) {
		count_sealed();
		self = NULL;
	} else if (self == &st_lost || self == &st_over)
		self = &st_counting;
	else if (self == &st_busy) {
		st_real_resolve();
		self = NULL;
	} else if (gm_seal_is_set() || gm_files_have_helper()) {
		sealed_slot = self->slot;
		count_sealed();
		self = NULL;
	} else {
		self = replaced(frame);
	}
	errno = saved_errno;
	return self;
}

static bool is_stand_in(const struct st_thread *self)
{
	return self == &st_newborn || self == &st_busy || self == &st_off || self == &st_lost ||
	       self == &st_over || self == &st_sealed;
}

static void counts_forget(struct st_thread *self)
{
	self->counts = self->sure_counts = self->ust_counts = NULL;
	self->budget.watched = false;
	st_timed_end_thread(self);
}

static void formers_park(struct st_thread *self)
{
	struct st_thread *former;

	while ((former = former_take(self)) != NULL) {
		former->live = 0;
		counts_forget(former);
		former->slot = NULL;
		park(former);
	}
	/* Writers with closed gates stay: a context may be using them. */
	self->former = NULL;
}

void st_thread_ended(void)
{
	struct st_thread *self;
	uint64_t mask, now_ns;

	st_waits_over();
	st_live_end();
	if (is_stand_in(st_self) || gm_sealed)
		return;
	gm_signals_block(&mask);
	self = st_self; /* a handler may have exchanged it until now */
	/*
	 * An asynchronous cancellation may have left the gate closed; the code that closed it is
	 * gone.
	 */
	self->gate = 0;
	now_ns = st_stamp(self);
	st_thread_end_path(self, (uint64_t)pthread_self(), now_ns);
	st_emit_parts(self, ST_EVENT_thread_exit, 0, 0, (const void *)pthread_self(), 0, now_ns);
	st_self = &st_over;
	if (self->live) {
		formers_park(self);
		self->live = 0;
		counts_forget(self);
		gm_thread_end(self->slot);
		self->slot = NULL;
		park(self);
	}
	gm_signals_restore(mask);
}

/*
 * The thread may end meanwhile in the usual way, and another one take the writer over: the values
 * read belong to one thread only if `live` is unchanged.
 */
void st_writer_check(struct st_thread *self)
{
	uint32_t life = __atomic_load_n(&self->live, __ATOMIC_ACQUIRE);
	struct gm_thread_slot *slot = __atomic_load_n(&self->slot, __ATOMIC_RELAXED);
	uint32_t tid = __atomic_load_n(&self->stream.tid, __ATOMIC_RELAXED);

	if (life == 0 || slot == NULL || !gm_thread_is_gone(tid) ||
	    !__atomic_compare_exchange_n(&self->live, &life, 0, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return;
	/* No code of the ended thread can close the gate any more. */
	self->gate = 0;
	self->former = NULL;
	counts_forget(self);
	gm_thread_abandon(slot);
	self->slot = NULL;
	park(self);
}
