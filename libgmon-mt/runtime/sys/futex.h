/* SPDX-License-Identifier: MIT */
/*
 * Waiting without libc and without spinning: the holder may have a lower priority, and a real-time
 * thread would yield to it for ever.
 *
 * The words are private to the process. A child of fork() resets those that another thread may have
 * held.
 */
#ifndef GM_RUNTIME_FUTEX_H
#define GM_RUNTIME_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>

#include "runtime/sys/sys.h"

/* Sleeps while *word == `value`; may return early. */
static inline void gm_futex_wait(const uint32_t *word, uint32_t value)
{
	gm_syscall6(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value, 0, 0, 0);
}

static inline void gm_futex_wake(const uint32_t *word, int n)
{
	gm_syscall3(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, n);
}

#endif
