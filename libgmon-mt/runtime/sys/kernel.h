/* SPDX-License-Identifier: MIT */
/* The time, signal masks, the environment and memory of others, without the C library. */
#ifndef GM_RUNTIME_KERNEL_H
#define GM_RUNTIME_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * CLOCK_MONOTONIC in nanoseconds, from the kernel: at least 0.1 us. See clock.h for a faster clock.
 */
uint64_t gm_clock_ns(void);

/* Signals that the kernel forces on a thread: blocking them kills the process. */
#define GM_SIGNAL_BIT(number) ((uint64_t)1 << ((number)-1))
#define GM_SIGNALS_FORCED                                                                          \
	(GM_SIGNAL_BIT(SIGSYS) | GM_SIGNAL_BIT(SIGSEGV) | GM_SIGNAL_BIT(SIGBUS) |                  \
	 GM_SIGNAL_BIT(SIGFPE) | GM_SIGNAL_BIT(SIGILL) | GM_SIGNAL_BIT(SIGTRAP))

/*
 * Blocks every signal, except those that the kernel forces on a thread, and returns the old mask;
 * this pair encloses every slow path. See lock.h for the handlers of forced signals.
 */
void gm_signals_block(uint64_t *ret_mask);
void gm_signals_restore(uint64_t mask);

/*
 * Touches the n_bytes of stack that the caller needs while signals are blocked. If they are not
 * there, the program's handler of SIGSEGV, which may jump out, runs with its own mask.
 */
void gm_stack_touch(size_t n_bytes);

/* After a handler jumped out of such a pair without restoring the mask: restores it. */
void gm_signals_unblock_left(uint64_t before);

/* Returns an environment variable, as of the last change of the process' environment, or NULL. */
const char *gm_environment(const char *name);

/*
 * For memory that another thread may unmap: tests whether it is mapped, and copies it; false if not
 * all of it is mapped. The kernel does the access; these functions never fault.
 */
bool gm_memory_is_readable(uint64_t address);
bool gm_memory_read(void *into, uint64_t address, size_t n_bytes);

/* Writes in the same way; the n_bytes lie in one page. */
bool gm_memory_write(uint64_t address, const void *from, size_t n_bytes);

#endif
