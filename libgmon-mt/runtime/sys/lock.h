/* SPDX-License-Identifier: MIT */
/*
 * Locks and sections of the runtime that a signal handler may interrupt.
 *
 * Signals are blocked in the slow paths, except those that the kernel forces on a thread (SIGSYS by
 * a seccomp filter, SIGBUS and similar), since blocking a forced signal kills the process. Their
 * handlers may call profiled functions, take locks, and leave by siglongjmp(). So each section
 * records the task that is inside, and the frame from which it entered:
 *
 * - a nested entry is detected, and continues without the section;
 * - an entry after a jump is detected by its frame, which is not below the one that was left;
 * - waiting is limited: if a lock is not released within seconds, the caller continues without it.
 */
#ifndef GM_RUNTIME_LOCK_H
#define GM_RUNTIME_LOCK_H

#include <stdbool.h>
#include <stdint.h>

/* The stack pointer; %rbp may have any value in the program. */
static inline __attribute__((always_inline)) uintptr_t gm_frame(void)
{
	uintptr_t stack;

	__asm__ volatile("mov %%rsp, %0" : "=r"(stack));
	return stack;
}

struct gm_inside {
	uint32_t tid; /* 0: no task */
	uintptr_t frame;
};

enum gm_entry {
	GM_ENTRY_FIRST,
	GM_ENTRY_NESTED, /* a handler interrupted the section, and may return to it */
	GM_ENTRY_LEFT,	 /* a handler interrupted the section and jumped out of it */
};

/* Enters the section unless the entry is nested. */
enum gm_entry gm_inside_enter(struct gm_inside *inside, uintptr_t frame);

static inline void gm_inside_leave(struct gm_inside *inside)
{
	__atomic_store_n(&inside->tid, 0, __ATOMIC_RELAXED);
}

/*
 * Taken with signals blocked. The task that holds it may take it again; code for which that matters
 * calls gm_lock_is_mine() first.
 */
struct gm_lock {
	uint32_t word; /* 0: free, 1: held, 2: held, and others may wait */
	uint32_t depth;
	bool is_stuck; /* a waiter gave up, and the lock was not released since */
	struct gm_inside holder;
};

/* Returns false if the lock is not released in time; the caller continues without the resource. */
bool gm_lock_take(struct gm_lock *lock);
void gm_lock_release(struct gm_lock *lock);

/*
 * Releases the lock on behalf of a task that jumped out and will not release it. Makes no system
 * call.
 */
void gm_lock_abandon(struct gm_lock *lock, uint32_t tid);

/* Returns true if the calling task holds the lock, in code that a handler has interrupted. */
bool gm_lock_is_mine(const struct gm_lock *lock);

/*
 * One task performs a step for all others, once. Meanwhile a word has a value that marks this; the
 * task sets it, and then calls gm_making_begin().
 */
struct gm_making {
	uint32_t tid;  /* of the task that performs the step */
	bool is_stuck; /* a waiter gave up */
};

void gm_making_begin(struct gm_making *making);

static inline void gm_making_end(struct gm_making *making)
{
	__atomic_store_n(&making->tid, 0, __ATOMIC_RELAXED);
}

/* Returns true if `tid` performs the step. */
static inline bool gm_making_is_by(const struct gm_making *making, uint32_t tid)
{
	return __atomic_load_n(&making->tid, __ATOMIC_RELAXED) == tid;
}

/*
 * Waits while *word == `value`. Returns 0, or an error with which the caller continues without the
 * result: -ETIMEDOUT: the other task is stuck; -EDEADLK: it is the calling task, in code that a
 * handler has interrupted or left.
 */
int gm_making_wait(struct gm_making *making, const uint32_t *word, uint32_t value);

#endif
