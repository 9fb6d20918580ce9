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

#define ACCESS_READ  1u /* counted by arithmetic: note.c */
#define ACCESS_WRITE 2u

/* The archive is for programs only: its hooks test the variable with one instruction. */
#ifdef ACCESS_ARCHIVE
#define ACCESS_TLS "local-exec"
#else
#define ACCESS_TLS "initial-exec"
#endif

extern __thread struct st_access_thread access_self
    __attribute__((tls_model(ACCESS_TLS), visibility("hidden")));

/* Adds one access of n_bytes to the thread's segment. kind: ACCESS_READ, ACCESS_WRITE or both. */
void access_note(uintptr_t address, size_t n_bytes, unsigned kind, uintptr_t site)
    __attribute__((noinline, visibility("hidden")));

/* Sets data_start and data_end. */
void access_find_data(struct st_access_functions *functions) __attribute__((visibility("hidden")));

/*
 * Looks up libc's functions. Until then, ours do the work themselves. Returns false if libc is not
 * behind this object.
 */
bool access_libc_resolve(void) __attribute__((visibility("hidden")));

/* ... and those of the allocator. Until then, each is looked up when it is called. */
void access_malloc_resolve(void) __attribute__((visibility("hidden")));
void access_map_resolve(void) __attribute__((visibility("hidden")));

/* --- blocks of the heap (blocks.c) ------------------------------------------------------------ */

/* Accesses are not recorded: no more blocks are noted. Called by a constructor. */
void access_blocks_stop(void) __attribute__((visibility("hidden")));

/* The block was allocated: adds it. Without memory for that, it is not known. */
void access_block_begin(uintptr_t address, size_t n_bytes, uintptr_t site)
    __attribute__((visibility("hidden")));

/* Returns false if no known block begins at the address. */
bool access_block_at(uintptr_t address, struct st_block *ret) __attribute__((visibility("hidden")));

/* Finds the block that contains the address. Returns false if none is known. */
bool access_block_find(uintptr_t address, struct st_block *ret)
    __attribute__((visibility("hidden")));

/*
 * Finds the first block that begins with a page and contains the begin of one in the range, which
 * begins with a page. Returns false if there is none.
 */
bool access_mapping_find(uintptr_t start, uintptr_t end, struct st_block *ret)
    __attribute__((visibility("hidden")));

/* Removes the block. */
void access_block_end(const struct st_block *block) __attribute__((visibility("hidden")));

#define ACCESS_SITE() ((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

/* One instruction; compilers do not generate it. */
static inline bool access_is_on(void)
{
	bool is_on;

	__asm__("cmpl $0, %1" : "=@ccne"(is_on) : "m"(access_self.depth));
	return __builtin_expect(is_on, 0);
}

static inline __attribute__((always_inline)) void
access_touch(const volatile void *address, size_t n_bytes, unsigned kind, uintptr_t site)
{
	if (access_is_on())
		access_note((uintptr_t)address, n_bytes, kind, site);
}

#endif
