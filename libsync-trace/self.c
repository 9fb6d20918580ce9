/* SPDX-License-Identifier: MIT */
/*
 * A thread's writer from its first event to its last.
 *
 * Who comes here finds a gate shut: the thread has no writer yet, is not to have one, or a signal
 * handler interrupted it.  The stand-ins for the first cases are static and shared; their gates
 * stay shut.
 *
 * A handler may also leave by siglongjmp(), and the gate of the code that it interrupted stays
 * shut. A wrapper that comes with a stack no deeper than that code had, and not on an alternate
 * signal stack, knows that it is gone, and takes the gate over.  Until one comes, events are
 * queued, then counted as lost.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

#include "internal.h"
#include "real.h"
#include "runtime/runtime.h"
#include "runtime/sys.h"

#define GATE_SHUT 1 /* no address of a stack */

struct st_thread st_newborn = {.gate = GATE_SHUT};
struct st_thread st_busy = {.gate = GATE_SHUT};
struct st_thread st_off = {.gate = GATE_SHUT};
struct st_thread st_lost = {.gate = GATE_SHUT};
struct st_thread st_deferred, st_counting;

__thread struct st_thread *st_self = &st_newborn;

void *st_memory_new(size_t size_bytes)
{
	void *memory = gm_sys_mmap(size_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* Where the kernel does not know this, process.c has a handler of fork() do it. */
	if (memory != NULL)
		gm_syscall3(SYS_madvise, (long)memory, (long)size_bytes, MADV_WIPEONFORK);
	return memory;
}

void st_count_lost(struct st_thread *self, uint64_t n)
{
	self->n_lost += n;
	__atomic_fetch_add(&self->slot->events_lost, n, __ATOMIC_RELAXED);
	if (self->packet != NULL)
		self->packet->events_discarded = self->n_lost;
}

void st_count_lost_anywhere(void)
{
	uint32_t index;
	struct gm_thread_slot *slot = gm_process_get() != NULL ? gm_thread_self(&index) : NULL;

	if (slot != NULL)
		__atomic_fetch_add(&slot->events_lost, 1, __ATOMIC_RELAXED);
	else
		gm_process_count_lost(GM_LIB_SYNC, 1);
}

/* Makes it the calling thread's writer: one just made, taken over, or emptied by a fork. */
static bool thread_attach(struct st_thread *self)
{
	uint32_t index = 0;

	self->slot = gm_thread_self(&index);
	if (self->slot == NULL)
		return false;
	self->index = index;
	self->tid = (uint32_t)gm_sys_gettid();
	self->slot->local[GM_LIB_SYNC] = (uintptr_t)self;
	if (self->sites == NULL)
		st_sites_init(self);
	self->clock.error_ns = 0;
	self->live = true;
	st_stream_resume(self, st_stamp(self));
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
	return self;
}

static struct st_thread *born(uintptr_t stack_pointer)
{
	struct st_thread *self;
	uint64_t mask;

	gm_signals_block(&mask);
	st_self = &st_busy;
	st_process_check_fork();
	self = thread_new();
	st_self = self;
	if (self->live)
		__atomic_store_n(&self->gate, stack_pointer, __ATOMIC_RELAXED);
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
	if (!st_process_open())
		st_self = &st_off;
	else if (!thread_attach(self))
		st_self = &st_lost;
	else
		st_self = self;
	gm_signals_restore(mask);
	return self->live;
}

static bool on_alternate_stack(void)
{
	stack_t stack = {.ss_flags = 0};

	gm_syscall3(SYS_sigaltstack, 0, (long)&stack, 0);
	return (stack.ss_flags & SS_ONSTACK) != 0;
}

static struct st_thread *enter_interrupted(struct st_thread *self, uintptr_t stack_pointer)
{
	/* The frame of a handler lies below that of the wrapper it interrupted. */
	if (stack_pointer < self->gate || on_alternate_stack())
		return &st_deferred;
	__atomic_store_n(&self->gate, stack_pointer, __ATOMIC_RELAXED);
	return self;
}

struct st_thread *st_enter_slowly(uintptr_t stack_pointer)
{
	struct st_thread *self = st_self;
	int saved_errno = errno;

	if (self == &st_newborn)
		self = born(stack_pointer);
	else if (self == &st_off)
		self = NULL;
	else if (self == &st_lost)
		self = &st_counting;
	else if (self == &st_busy) {
		st_real_resolve();
		self = NULL;
	} else {
		self = enter_interrupted(self, stack_pointer);
	}
	errno = saved_errno;
	return self;
}

void st_drain(struct st_thread *self)
{
	uint64_t mask;

	gm_signals_block(&mask);
	for (uint32_t i = 0; i < self->n_queued; i++)
		st_emit(self, &self->queue[i]);
	if (self->n_lost_queued > 0)
		st_count_lost(self, self->n_lost_queued);
	self->n_lost_queued = 0;
	__atomic_store_n(&self->n_queued, 0, __ATOMIC_RELAXED);
	gm_signals_restore(mask);
}

void st_thread_ended(void *unused)
{
	struct st_thread *self = st_self;
	uint64_t mask;

	(void)unused;
	if (self->gate == GATE_SHUT)
		return;
	gm_signals_block(&mask);
	/* An asynchronous cancellation may have left it shut; who shut it is gone. */
	self->gate = 0;
	if (self->n_queued > 0)
		st_drain(self);
	st_emit_parts(self, ST_EVENT_thread_exit, 0, 0, (const void *)pthread_self(), 0,
		      st_stamp(self));
	st_self = &st_lost;
	if (self->live) {
		self->live = false;
		self->slot->local[GM_LIB_SYNC] = 0;
		gm_thread_end(self->slot);
		self->slot = NULL;
		st_pool_put(self);
	}
	gm_signals_restore(mask);
}
