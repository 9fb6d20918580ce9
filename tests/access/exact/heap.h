// SPDX-License-Identifier: MIT
// Puts the objects of a C++ program into the region.  release_all() gives all of them back.
#include "access/exact/region.h"

#include <new>

static char *next_byte = region.bytes;

static inline void release_all()
{
	next_byte = region.bytes;
}

// Compilers may assume that new memory is no variable's.
NOINLINE void *operator new(size_t n)
{
	char *made = next_byte;

	next_byte += (n + 15) / 16 * 16;
	if (next_byte > region.bytes + sizeof(region.bytes))
		__builtin_trap();
	__asm__ volatile("" : "+r"(made));
	return made;
}

// Compilers know what operator delete does. clang takes one that does nothing for proof that it is
// never called.
void operator delete(void *at) noexcept
{
	__asm__ volatile("" : : "r"(at) : "memory");
}

void operator delete(void *at, size_t) noexcept
{
	__asm__ volatile("" : : "r"(at) : "memory");
}

// Otherwise an object that nobody else sees need not be in memory.
template <typename type> static type *keep(type *object)
{
	__asm__ volatile("" : "+r"(object) : : "memory");
	return object;
}
