/* SPDX-License-Identifier: MIT */
/* For the wrappers of functions that make and free blocks: malloc.c, map.c. */
#ifndef ST_ACCESS_ALLOCATOR_H
#define ST_ACCESS_ALLOCATOR_H

#include "access/access.h"

/* A program may define these itself, with the archive, too. */
#ifdef ACCESS_ARCHIVE
#define OVER EXPORT __attribute__((weak))
#else
#define OVER EXPORT
#endif

/* Searches the definition behind ours; NULL: there is none. */
void *access_next(const char *name) __attribute__((noinline, cold, visibility("hidden")));

/*
 * Returns the next definition, which access_malloc_resolve() stores in the file's structure `next`.
 * Until then each call searches it, without a lock or memory.
 */
#define NEXT(name)                                                                                 \
	({                                                                                         \
		void *found_ = (void *)__atomic_load_n(&next.name, __ATOMIC_RELAXED);              \
                                                                                                   \
		(__typeof__(next.name))(__builtin_expect(found_ != NULL, 1) ? found_               \
									    : access_next(#name)); \
	})

/* ... and looks it up. */
#define NEXT_FIND(name)                                                                            \
	__atomic_store_n((void **)&next.name, dlsym(RTLD_NEXT, #name), __ATOMIC_RELAXED)

/* The place of the return address: wrappers like xmalloc() and operator new are not call sites. */
#define SITE()                                                                                     \
	st_access_site(                                                                            \
	    (const volatile uintptr_t *)((uintptr_t)__builtin_dwarf_cfa() - sizeof(uintptr_t)))

/* Removes a block before it is freed. Returns the time for st_access_block_freed(). */
static inline uint64_t block_remove(const struct st_block *block)
{
	uint64_t now_ns = 0;

	if (__builtin_expect(st_block_epoch(block->value) != 0 || access_self.depth != 0, 0))
		now_ns = st_access_block_ends(block);
	access_block_end(block);
	return now_ns;
}

/*
 * The removed block stays at its place, with its call site. Only a new size is a reason to write it
 * again.
 */
static inline void block_restore(const struct st_block *block, size_t n_bytes)
{
	struct st_block now;

	access_block_begin(block->address, n_bytes, block->site);
	if (n_bytes == block->n_bytes && access_block_at(block->address, &now))
		__atomic_store_n(now.word, now.value | (block->value & ST_EPOCH_MASK),
				 __ATOMIC_RELAXED);
}

#endif
