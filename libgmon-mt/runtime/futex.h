/* SPDX-License-Identifier: MIT */
/*
 * Waiting without libc, and without spinning: who is waited for may have less priority, and a
 * real-time thread that yields to it yields for ever.
 *
 * Words are private to the process.  A child of fork() resets those that another thread may have
 * held.
 */
#ifndef GM_RUNTIME_FUTEX_H
#define GM_RUNTIME_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>

#include "runtime/sys.h"

/* Sleeps while *word is `value`; may return early. */
static inline void gm_futex_wait(const uint32_t *word, uint32_t value)
{
	gm_syscall6(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value, 0, 0, 0);
}

static inline void gm_futex_wake(const uint32_t *word, int n)
{
	gm_syscall3(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, n);
}

/* A lock: 0 free, 1 held, 2 held with others waiting.  Signals are blocked as long as it is held.
 */
static inline void gm_futex_lock(uint32_t *lock)
{
	uint32_t seen = 0;

	/* acquire: pairs with the release in gm_futex_unlock() */
	if (__atomic_compare_exchange_n(lock, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE) != 0)
		gm_futex_wait(lock, 2);
}

static inline void gm_futex_unlock(uint32_t *lock)
{
	if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2)
		gm_futex_wake(lock, 1);
}

#endif
