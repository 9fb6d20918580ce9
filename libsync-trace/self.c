/* SPDX-License-Identifier: MIT */
/*
 * A thread's writers from its first event to its last.
 *
 * Who comes here finds a gate shut: the thread has no writer yet, is not to have one, or other code
 * of this thread is in mid-event.  The stand-ins for the first cases are static and shared; their
 * gates stay shut.
 *
 * Code in mid-event may have been interrupted by a handler and go on after it; be a context that a
 * handler switched away from, and go on at any time; or have been left for good by siglongjmp().
 * Which of these is not to be known (stacks may lie inside stacks), and need not be: its writer is
 * left alone until its gate opens, and the thread goes on with another.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

#include "internal.h"
#include "real.h"
#include "runtime/runtime.h"
#include "runtime/sys.h"

#define GATE_SHUT   1
#define FORMERS_MAX 1024 /* in a process: 4 KiB of memory and a file each */

struct st_thread st_newborn = {.gate = GATE_SHUT, .selective = true};
struct st_thread st_busy = {.gate = GATE_SHUT, .selective = true};
struct st_thread st_off = {.gate = GATE_SHUT};
static struct st_thread st_lost = {.gate = GATE_SHUT, .selective = true};
static struct st_thread st_over = {.gate = GATE_SHUT, .selective = true};
struct st_thread st_counting;

static int n_formers;

__thread struct st_thread *st_self = &st_newborn;

void *st_memory_new(size_t size_bytes)
{
	void *memory = gm_sys_mmap(size_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* Where the kernel does not know this, process.c has a handler of fork() do it. */
	if (memory != NULL)
		gm_syscall3(SYS_madvise, (long)memory, (long)size_bytes, MADV_WIPEONFORK);
	return memory;
}

static void slot_count_lost(struct gm_thread_slot *slot, uint64_t n, uint8_t why)
{
	__atomic_fetch_add(&slot->events_lost, n, __ATOMIC_RELAXED);
	gm_loss_add(&slot->events_why, why);
}

void st_count_lost(struct st_thread *self, uint64_t n)
{
	self->stream.n_lost += n;
	slot_count_lost(self->slot, n, self->stream.why);
	if (self->stream.packet != NULL)
		self->stream.packet->events_discarded = self->stream.n_lost;
}

void st_count_lost_anywhere(void)
{
	uint32_t index;
	struct gm_thread_slot *slot = NULL;

	/* Its slot is closed: it would be given another, as if it were two threads. */
	if (st_self == &st_over) {
		gm_process_count_lost(GM_LIB_SYNC, 1, 0);
		return;
	}
	if (gm_process_get() != NULL)
		slot = gm_thread_self(&index);
	if (slot != NULL)
		slot_count_lost(slot, 1, GM_LOSS_MEMORY);
	else
		gm_process_count_lost(GM_LIB_SYNC, 1, gm_threads_why());
}

/* Makes it the calling thread's writer: one just made, taken over, or emptied by a fork. */
static bool thread_attach(struct st_thread *self)
{
	uint32_t index = 0;

	self->slot = gm_thread_self(&index);
	if (self->slot == NULL)
		return false;
	self->stream.index = index;
	self->stream.tid = (uint32_t)gm_sys_gettid();
	if (self->sites == NULL)
		st_sites_init(self);
	self->clock.error_ns = 0;
	self->selective = st_is_selective();
	self->stack = (struct st_stack){0, 0};
	self->live = true;
	self->ust = st_process_sink() != GM_SINK_NATIVE;
	if (self->ust)
		__atomic_fetch_or(&self->detours, ST_DETOUR_UST, __ATOMIC_RELAXED);
	self->only_ust = st_process_sink() == GM_SINK_LTTNG;
	*(self->ust ? &self->ust_counts : &self->counts) = st_counts_row(index);
	self->sure_counts = st_is_picking() ? NULL : self->counts;
	self->stream.trace = st_process_trace();
	gm_stream_resume(&self->stream, st_stamp(self));
	gm_thread_watch(self);
	return true;
}

/* The thread's first event.  Signals are blocked, st_self is st_busy. */
static struct st_thread *thread_new(void)
{
	struct st_thread *self;

	if (!st_process_open())
		return &st_off;
	self = st_pool_take();
	if (self == NULL)
		return &st_lost;
	if (!thread_attach(self)) {
		st_pool_put(self);
		return &st_lost;
	}
	st_path_stack_init(self);
	return self;
}

static struct st_thread *born(void)
{
	struct st_thread *self;
	uint64_t mask;

	gm_signals_block(&mask);
	st_self = &st_busy;
	st_process_check_fork();
	self = thread_new();
	st_self = self;
	if (self->live)
		self->gate = GATE_SHUT;
	gm_signals_restore(mask);
	if (self == &st_lost)
		return &st_counting;
	return self->live ? self : NULL;
}

bool st_thread_reborn(struct st_thread *self)
{
	uint64_t mask;

	gm_signals_block(&mask);
	st_self = &st_busy;
	st_process_check_fork();
	__builtin_memset(self, 0, sizeof(*self));
	self->gate = GATE_SHUT;
	if (!st_process_open())
		st_self = &st_off;
	else if (!thread_attach(self))
		st_self = &st_lost;
	else
		st_self = self;
	gm_signals_restore(mask);
	return self->live;
}

/* Takes an open writer out of those that `self` has replaced.  NULL: all are shut. */
static struct st_thread *former_take(struct st_thread *self)
{
	for (struct st_thread **link = &self->former; *link != NULL; link = &(*link)->former) {
		struct st_thread *former = *link;

		if (former->gate == 0) {
			*link = former->former;
			return former;
		}
	}
	return NULL;
}

static struct st_thread *former_new(void)
{
	struct st_thread *self = NULL;

	if (__atomic_fetch_add(&n_formers, 1, __ATOMIC_RELAXED) < FORMERS_MAX)
		self = st_pool_take();
	if (self != NULL && thread_attach(self))
		return self;
	if (self != NULL)
		st_pool_put(self);
	__atomic_fetch_sub(&n_formers, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Somebody is in mid-event: the thread gets another writer, whose gate is shut for the caller. */
static struct st_thread *replaced(void)
{
	struct st_thread *held, *self;
	uint64_t mask;

	gm_signals_block(&mask);
	self = held = st_self;
	if (st_gate_shut(held)) {
		self = former_take(held);
		if (self == NULL)
			self = former_new();
		if (self != NULL) {
			self->gate = GATE_SHUT;
			self->former = held;
			st_self = self;
		}
	}
	gm_signals_restore(mask);
	return self != NULL ? self : &st_counting;
}

struct st_thread *st_enter_slowly(void)
{
	struct st_thread *self = st_self;
	int saved_errno = errno;

	if (self == &st_newborn)
		self = born();
	else if (self == &st_off)
		self = NULL;
	else if (self == &st_lost || self == &st_over)
		self = &st_counting;
	else if (self == &st_busy) {
		st_real_resolve();
		self = NULL;
	} else {
		self = replaced();
	}
	errno = saved_errno;
	return self;
}

static bool is_stand_in(const struct st_thread *self)
{
	return self == &st_newborn || self == &st_busy || self == &st_off || self == &st_lost ||
	       self == &st_over;
}

static void counts_forget(struct st_thread *self)
{
	self->counts = self->sure_counts = self->ust_counts = NULL;
}

static void formers_park(struct st_thread *self)
{
	struct st_thread *former;

	while ((former = former_take(self)) != NULL) {
		former->live = false;
		counts_forget(former);
		former->slot = NULL;
		st_pool_put(former);
		__atomic_fetch_sub(&n_formers, 1, __ATOMIC_RELAXED);
	}
	/* Whose gates are shut stay as they are: a context may be in there. */
	self->former = NULL;
}

void st_thread_ended(void *unused)
{
	struct st_thread *self = st_self;
	uint64_t mask;

	(void)unused;
	if (is_stand_in(self))
		return;
	gm_signals_block(&mask);
	/* An asynchronous cancellation may have left it shut; who shut it is gone. */
	self->gate = 0;
	st_emit_parts(self, ST_EVENT_thread_exit, 0, 0, (const void *)pthread_self(), 0,
		      st_stamp(self));
	st_self = &st_over;
	if (self->live) {
		formers_park(self);
		self->live = false;
		counts_forget(self);
		gm_thread_end(self->slot);
		self->slot = NULL;
		st_pool_put(self);
	}
	gm_signals_restore(mask);
}

void st_thread_trim(struct st_thread *self)
{
	for (; self != NULL; self = self->former)
		gm_stream_trim(&self->stream);
}
