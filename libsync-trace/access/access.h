/* SPDX-License-Identifier: MIT */
/*
 * libaccess_trace: the functions that code built with -fsanitize=thread calls, and functions of
 * libc that access memory for it.
 *
 * Each of them tests whether the thread holds a lock, and otherwise does nothing. They make no
 * system call, take no lock, allocate nothing and keep errno, and so may run in signal handlers,
 * before constructors, after destructors and in forked children.
 */
#ifndef ST_ACCESS_H
#define ST_ACCESS_H

#include <stdbool.h>

#include "sync-trace/collector.h"

#define EXPORT __attribute__((visibility("default")))

#define ACCESS_READ  1u
#define ACCESS_WRITE 2u

extern __thread struct st_access_thread access_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Adds one access of n_bytes to the thread's segment. kind: ACCESS_READ, ACCESS_WRITE or both. */
void access_note(uintptr_t address, size_t n_bytes, unsigned kind, uintptr_t site)
    __attribute__((noinline, visibility("hidden")));

/* Looks up libc's functions. Until then, ours do the work themselves. */
void access_libc_resolve(void) __attribute__((visibility("hidden")));

#define ACCESS_SITE() ((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

static inline bool access_is_on(void)
{
	return __builtin_expect(access_self.depth != 0, 0);
}

static inline __attribute__((always_inline)) void
access_touch(const volatile void *address, size_t n_bytes, unsigned kind, uintptr_t site)
{
	if (access_is_on())
		access_note((uintptr_t)address, n_bytes, kind, site);
}

#endif
