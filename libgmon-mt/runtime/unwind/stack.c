/* SPDX-License-Identifier: MIT */
/*
 * Readable stack memory (stack.h). The kernel is asked for each page once; the answer is kept for
 * the thread's own stack, and for the time of a walk for others: a coroutine's stack may be
 * unmapped after it.
 */
#include "runtime/unwind/stack.h"

#include "runtime/sys/kernel.h"

#define PAGE_BYTES 4096u
/* A larger distance is another mapping, or the rest of a stack that is not in use. */
#define EXTEND_MAX_BYTES ((uint64_t)1 << 20)
#define FIND_MAX_BYTES	 ((uint64_t)64 * PAGE_BYTES)

static bool pages_are_readable(uint64_t start, uint64_t end)
{
	for (; start < end; start += PAGE_BYTES)
		if (!gm_memory_is_readable(start))
			return false;
	return true;
}

static uint64_t page_of(uint64_t address)
{
	return address & -(uint64_t)PAGE_BYTES;
}

struct gm_stack gm_stack_around(uint64_t address)
{
	return (struct gm_stack){page_of(address), page_of(address) + PAGE_BYTES};
}

bool gm_stack_find(struct gm_stack *own, uint64_t pointer, struct gm_stack *ret)
{
	struct gm_stack here = gm_stack_around(pointer);

	if (pointer < own->start && own->start - here.start <= FIND_MAX_BYTES &&
	    pages_are_readable(here.start, own->start))
		own->start = here.start;
	if (pointer >= own->start && pointer < own->end) {
		*ret = *own;
		return true;
	}
	*ret = here;
	return gm_memory_is_readable(here.start);
}

bool gm_stack_extend(struct gm_stack *known, uint64_t address)
{
	uint64_t start = page_of(address),
		 end = page_of(address + sizeof(address) - 1) + PAGE_BYTES;

	if (start + PAGE_BYTES == known->start && end <= known->end &&
	    gm_memory_is_readable(start)) {
		known->start = start;
		return true;
	}
	if (address < known->start || end < address || end - known->end > EXTEND_MAX_BYTES ||
	    !pages_are_readable(known->end, end))
		return false;
	known->end = end;
	return true;
}
