/* SPDX-License-Identifier: MIT */
/*
 * The functions of the allocator: they note which blocks exist, and call the next definition, which
 * may be that of another allocator. Functions that call these are not wrapped: operator new,
 * reallocarray(), strdup(). If another allocator comes first, its functions are called, and only
 * those that it does not define are ours: they must not call another one here.
 *
 * A block is removed before its memory is given back, since another thread may get it at once.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#include "access/allocator.h"

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

void *access_next(const char *name)
{
	/* Old loaders' dlsym() may allocate: not again in the same thread. */
	static __thread bool is_searching;
	void *found = st_access_next(&next, name);

	if (found == NULL && !is_searching) {
		is_searching = true;
		found = dlsym(RTLD_NEXT, name);
		is_searching = false;
	}
	return found;
}

void access_malloc_resolve(void)
{
#define FIND(name, result, parameters) NEXT_FIND(name);
	FUNCTIONS(FIND)
#undef FIND
}

static inline void *begin(void *at, size_t n_bytes, uintptr_t site)
{
	if (at != NULL)
		access_block_begin((uintptr_t)at, n_bytes, site);
	return at;
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

	if (access_block_at((uintptr_t)at, &block)) {
		now_ns = block_remove(&block);
		if (now_ns != 0)
			st_access_block_freed(&block, now_ns);
	}
	if (real != NULL)
		real(at);
}

void *realloc(void *at, size_t n_bytes)
{
	__typeof__(next.realloc) real = NEXT(realloc);
	struct st_block block;
	bool is_known = access_block_at((uintptr_t)at, &block);
	uint64_t now_ns = is_known ? block_remove(&block) : 0;
	void *made = real != NULL ? real(at, n_bytes) : NULL;

	if (is_known && n_bytes != 0 && (made == at || made == NULL)) {
		block_restore(&block, made == at ? n_bytes : block.n_bytes);
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
