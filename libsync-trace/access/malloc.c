/* SPDX-License-Identifier: MIT */
/*
 * The functions of the allocator: they note which blocks exist, and call the next definition, which
 * may be that of another allocator. Functions that call these are not wrapped: operator new,
 * reallocarray(), strdup(). If another allocator comes first, its functions are called, and only
 * those that it does not define are ours: they must not call another one here.
 *
 * A block is removed before its memory is given back, since another thread may get it at once.
 * While a function has not been looked up, each call does so, without a lock or memory.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#include "access/access.h"

/* A program may define these itself, with the archive, too. */
#ifdef ACCESS_ARCHIVE
#define OVER EXPORT __attribute__((weak))
#else
#define OVER EXPORT
#endif

/* Name, result, parameters. */
#define FUNCTIONS(X)                                                                               \
	X(malloc, void *, (size_t))                                                                \
	X(calloc, void *, (size_t, size_t))                                                        \
	X(realloc, void *, (void *, size_t))                                                       \
	X(free, void, (void *))                                                                    \
	X(aligned_alloc, void *, (size_t, size_t))                                                 \
	X(posix_memalign, int, (void **, size_t, size_t))                                          \
	X(memalign, void *, (size_t, size_t))                                                      \
	X(valloc, void *, (size_t))                                                                \
	X(pvalloc, void *, (size_t))

static struct {
#define MEMBER(name, result, parameters) result(*name) parameters;
	FUNCTIONS(MEMBER)
#undef MEMBER
} next;

#define DECLARE(name, result, parameters) OVER result name parameters;
FUNCTIONS(DECLARE)
#undef DECLARE

/* Old loaders' dlsym() may allocate: not again in the same thread. */
static __thread bool is_searching;

static __attribute__((noinline, cold)) void *search(const char *name)
{
	void *found = st_access_next(&next, name);

	if (found == NULL && !is_searching) {
		is_searching = true;
		found = dlsym(RTLD_NEXT, name);
		is_searching = false;
	}
	return found;
}

/* Returns the next definition, or NULL: then there is no allocator at all, and no memory. */
#define NEXT(name)                                                                                 \
	({                                                                                         \
		void *found_ = (void *)__atomic_load_n(&next.name, __ATOMIC_RELAXED);              \
                                                                                                   \
		(__typeof__(next.name))(__builtin_expect(found_ != NULL, 1) ? found_               \
									    : search(#name));      \
	})

void access_malloc_resolve(void)
{
	bool has_failed = false;

#define FIND(name, result, parameters)                                                             \
	{                                                                                          \
		void *found = dlsym(RTLD_NEXT, #name);                                             \
                                                                                                   \
		has_failed |= found == NULL;                                                       \
		__atomic_store_n((void **)&next.name, found, __ATOMIC_RELAXED);                    \
	}
	FUNCTIONS(FIND)
#undef FIND
	if (has_failed)
		dlerror(); /* clears an error that the program would otherwise see */
}

/* The place of the return address: wrappers like xmalloc() and operator new are not call sites. */
#define SITE()                                                                                     \
	st_access_site(                                                                            \
	    (const volatile uintptr_t *)((uintptr_t)__builtin_dwarf_cfa() - sizeof(uintptr_t)))

static inline void *begin(void *at, size_t n_bytes, uintptr_t site)
{
	if (at != NULL)
		access_block_begin((uintptr_t)at, n_bytes, site);
	return at;
}

/*
 * Removes the block at this address, if one is known. Returns the time for st_access_block_freed().
 */
static inline bool end(void *at, struct st_block *ret, uint64_t *ret_now_ns)
{
	if (!access_block_at((uintptr_t)at, ret))
		return false;
	*ret_now_ns = 0;
	if (__builtin_expect(st_block_epoch(ret->value) != 0 || access_self.depth != 0, 0))
		*ret_now_ns = st_access_block_ends(ret);
	access_block_end(ret);
	return true;
}

void *malloc(size_t n_bytes)
{
	__typeof__(next.malloc) real = NEXT(malloc);

	return real != NULL ? begin(real(n_bytes), n_bytes, SITE()) : NULL;
}

void *calloc(size_t n, size_t n_bytes)
{
	__typeof__(next.calloc) real = NEXT(calloc);

	return real != NULL ? begin(real(n, n_bytes), n * n_bytes, SITE()) : NULL;
}

void free(void *at)
{
	__typeof__(next.free) real = NEXT(free);
	struct st_block block;
	uint64_t now_ns;

	if (end(at, &block, &now_ns) && now_ns != 0)
		st_access_block_freed(&block, now_ns);
	if (real != NULL)
		real(at);
}

/* The block stays at its place, with its call site. Only a new size is a reason to write it again.
 */
static void go_on(const struct st_block *block, size_t n_bytes)
{
	struct st_block now;

	access_block_begin(block->address, n_bytes, block->site);
	if (n_bytes == block->n_bytes && access_block_at(block->address, &now))
		__atomic_store_n(now.word, now.value | (block->value & ST_EPOCH_MASK),
				 __ATOMIC_RELAXED);
}

void *realloc(void *at, size_t n_bytes)
{
	__typeof__(next.realloc) real = NEXT(realloc);
	struct st_block block;
	uint64_t now_ns = 0;
	bool is_known = at != NULL && end(at, &block, &now_ns);
	void *made = real != NULL ? real(at, n_bytes) : NULL;

	if (is_known && made == at && n_bytes != 0) {
		go_on(&block, n_bytes);
		return made;
	}
	if (is_known && made == NULL && n_bytes != 0) {
		go_on(&block, block.n_bytes);
		return made;
	}
	if (now_ns != 0)
		st_access_block_freed(&block, now_ns);
	return begin(made, n_bytes, SITE());
}

void *aligned_alloc(size_t alignment, size_t n_bytes)
{
	__typeof__(next.aligned_alloc) real = NEXT(aligned_alloc);

	return real != NULL ? begin(real(alignment, n_bytes), n_bytes, SITE()) : NULL;
}

int posix_memalign(void **ret, size_t alignment, size_t n_bytes)
{
	__typeof__(next.posix_memalign) real = NEXT(posix_memalign);
	int code = real != NULL ? real(ret, alignment, n_bytes) : ENOMEM;

	if (code == 0)
		begin(*ret, n_bytes, SITE());
	return code;
}

void *memalign(size_t alignment, size_t n_bytes)
{
	__typeof__(next.memalign) real = NEXT(memalign);

	return real != NULL ? begin(real(alignment, n_bytes), n_bytes, SITE()) : NULL;
}

void *valloc(size_t n_bytes)
{
	__typeof__(next.valloc) real = NEXT(valloc);

	return real != NULL ? begin(real(n_bytes), n_bytes, SITE()) : NULL;
}

void *pvalloc(size_t n_bytes)
{
	__typeof__(next.pvalloc) real = NEXT(pvalloc);

	return real != NULL ? begin(real(n_bytes), n_bytes, SITE()) : NULL;
}
