/* SPDX-License-Identifier: MIT */
/*
 * Locks and parts of the runtime that a signal handler may interrupt.
 *
 * Signals are blocked in the slow paths, except those that the kernel forces on a thread (SIGSYS by
 * a seccomp filter, SIGBUS and the like), since a forced signal that is blocked kills the process.
 * Their handlers may call profiled functions, take locks, and leave by siglongjmp().  So each part
 * knows the task that is in it, and the frame it entered from:
 *
 * - a nested entry is recognized and does without;
 * - an entry after a jump is recognized by its frame, which does not lie below the one left;
 * - nobody waits for ever: a lock that is not released within seconds is done without.
 */
#ifndef GM_RUNTIME_LOCK_H
#define GM_RUNTIME_LOCK_H

#include <stdbool.h>
#include <stdint.h>

/* The stack pointer: %rbp may be the program's. */
static inline __attribute__((always_inline)) uintptr_t gm_frame(void)
{
	uintptr_t stack;

	__asm__ volatile("mov %%rsp, %0" : "=r"(stack));
	return stack;
}

struct gm_inside {
	uint32_t tid; /* 0: nobody */
	uintptr_t frame;
};

enum gm_entry {
	GM_ENTRY_FIRST,
	GM_ENTRY_NESTED, /* a handler interrupted the part, and may return to it */
	GM_ENTRY_LEFT,	 /* a handler interrupted the part and jumped out of it */
};

/* Enters, unless nested. */
enum gm_entry gm_inside_enter(struct gm_inside *inside, uintptr_t frame);

static inline void gm_inside_leave(struct gm_inside *inside)
{
	__atomic_store_n(&inside->tid, 0, __ATOMIC_RELAXED);
}

/*
 * Taken with signals blocked.  A task that holds it may take it again; who has to know asks
 * gm_lock_is_mine() before.
 */
struct gm_lock {
	uint32_t word; /* 0: free, 1: held, 2: held, and others may wait */
	uint32_t depth;
	bool is_stuck; /* somebody gave up waiting, and it was not released since */
	struct gm_inside holder;
};

/* False: it is not released; the caller does without what it guards. */
bool gm_lock_take(struct gm_lock *lock);
void gm_lock_release(struct gm_lock *lock);

/* A task that holds it, and does not come back, holds it no more.  Makes no system call. */
void gm_lock_abandon(struct gm_lock *lock, uint32_t tid);

/* Does the calling task hold it, in code that a handler has interrupted? */
bool gm_lock_is_mine(const struct gm_lock *lock);

/*
 * One task makes something for all, once.  Meanwhile a word has a value that says so; the maker
 * sets it, and then calls gm_making_begin().
 */
struct gm_making {
	uint32_t tid;  /* of the maker */
	bool is_stuck; /* somebody gave up waiting for it */
};

void gm_making_begin(struct gm_making *making);

static inline void gm_making_end(struct gm_making *making)
{
	__atomic_store_n(&making->tid, 0, __ATOMIC_RELAXED);
}

/* Does `tid` make it? */
static inline bool gm_making_is_by(const struct gm_making *making, uint32_t tid)
{
	return __atomic_load_n(&making->tid, __ATOMIC_RELAXED) == tid;
}

/*
 * Waits while *word is `value`.  0, or the caller does without what is made: -ETIMEDOUT, the maker
 * does not get on for seconds; -EDEADLK, it is the calling task, in code that a handler has
 * interrupted or left.
 */
int gm_making_wait(struct gm_making *making, const uint32_t *word, uint32_t value);

#endif
