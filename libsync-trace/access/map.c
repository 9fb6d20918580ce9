/* SPDX-License-Identifier: MIT */
/*
 * Mappings that the program makes, as blocks: an address that is unmapped and mapped again has
 * another object. If a part of a mapping is unmapped, the rest begins a new life, too. A call that
 * fails has ended lives.
 *
 * An allocator behind ours may map the memory of its blocks here. They are inside that block, and
 * found before it.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/mman.h>

#include "access/allocator.h"

#define PAGE_BYTES ((size_t)4096)

static struct {
	void *(*mmap)(void *, size_t, int, int, int, off_t);
	void *(*mmap64)(void *, size_t, int, int, int, off_t);
	int (*munmap)(void *, size_t);
	void *(*mremap)(void *, size_t, size_t, int, void *);
} next;

void access_map_resolve(void)
{
	NEXT_FIND(mmap);
	NEXT_FIND(mmap64);
	NEXT_FIND(munmap);
	NEXT_FIND(mremap);
}

static size_t whole_pages(size_t n_bytes)
{
	return (n_bytes + PAGE_BYTES - 1) & -PAGE_BYTES;
}

/*
 * The program is about to unmap the range: ends the lives of the blocks in it. The part
 * of the first and the last one that stays mapped is a new block.
 */
static void end_range(uintptr_t start, size_t n_bytes)
{
	uintptr_t end = start + whole_pages(n_bytes), at = start;
	struct st_block block;
	uint64_t now_ns;

	if (start % PAGE_BYTES != 0 || end < start)
		return;
	while (access_mapping_find(at, end, &block)) {
		uintptr_t block_end = block.address + block.n_bytes;

		now_ns = block_remove(&block);
		if (now_ns != 0)
			st_access_block_freed(&block, now_ns);
		if (block.address < start)
			access_block_begin(block.address, start - block.address, block.site);
		if (end < block_end)
			access_block_begin(end, block_end - end, block.site);
		at = block.address + whole_pages(block.n_bytes);
	}
}

static inline void *begin(void *at, size_t n_bytes, uintptr_t site)
{
	if (at != MAP_FAILED)
		access_block_begin((uintptr_t)at, n_bytes, site);
	return at;
}

#define MMAP(name)                                                                                 \
	OVER void *name(void *at, size_t n_bytes, int protection, int flags, int fd, off_t offset) \
	{                                                                                          \
		__typeof__(next.name) real = NEXT(name);                                           \
                                                                                                   \
		if ((flags & MAP_FIXED) != 0)                                                      \
			end_range((uintptr_t)at, n_bytes);                                         \
		return real != NULL ? begin(real(at, n_bytes, protection, flags, fd, offset),      \
					    n_bytes, SITE())                                       \
				    : MAP_FAILED;                                                  \
	}

MMAP(mmap)
MMAP(mmap64)

OVER int munmap(void *at, size_t n_bytes)
{
	__typeof__(next.munmap) real = NEXT(munmap);

	end_range((uintptr_t)at, n_bytes);
	return real != NULL ? real(at, n_bytes) : -1;
}

OVER void *mremap(void *at, size_t n_old, size_t n_bytes, int flags, ...)
{
	__typeof__(next.mremap) real = NEXT(mremap);
	struct st_block block;
	bool is_known = access_block_at((uintptr_t)at, &block) && n_old != 0 &&
			whole_pages(block.n_bytes) == whole_pages(n_old);
	uint64_t now_ns = 0;
	void *to = NULL, *made;
	va_list more;

	if ((flags & MREMAP_FIXED) != 0) {
		va_start(more, flags);
		to = va_arg(more, void *);
		va_end(more);
		end_range((uintptr_t)to, n_bytes);
	}
	if (is_known)
		now_ns = block_remove(&block);
	made = real != NULL ? real(at, n_old, n_bytes, flags, to) : MAP_FAILED;
	if (!is_known)
		return made;
	if (made == MAP_FAILED || made == at) {
		block_restore(&block, made == at ? n_bytes : block.n_bytes);
		return made;
	}
	if (now_ns != 0)
		st_access_block_freed(&block, now_ns);
	return begin(made, n_bytes, SITE());
}
