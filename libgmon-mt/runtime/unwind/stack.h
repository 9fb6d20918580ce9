/* SPDX-License-Identifier: MIT */
/* The part of a stack that is known to be readable. */
#ifndef GM_RUNTIME_UNWIND_STACK_H
#define GM_RUNTIME_UNWIND_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* Run-time addresses, whole pages; `end` is exclusive. */
struct gm_stack {
	uint64_t start, end;
};

/* Returns the page around an address that is in use as stack. */
struct gm_stack gm_stack_around(uint64_t address);

/*
 * Returns the known part of the stack that `pointer` points into. A thread's own stack, where it
 * had its first event, exists as long as the thread, so what is known of it is kept in *own. Of
 * another stack, which the program may free, only the page of `pointer` is assumed; false if that
 * is not readable.
 */
bool gm_stack_find(struct gm_stack *own, uint64_t pointer, struct gm_stack *ret);

/*
 * Extends *known upward, or by a page downward, so that the word at `address` is in it: where a
 * function has restored a register, its table still gives the place below %rsp where that was
 * saved. Returns false if it is not there.
 */
bool gm_stack_extend(struct gm_stack *known, uint64_t address);

static inline bool gm_stack_read(struct gm_stack *known, uint64_t address, uint64_t *ret)
{
	if (__builtin_expect(address - known->start > known->end - known->start - 8, 0) &&
	    !gm_stack_extend(known, address))
		return false;
	*ret = *(const uint64_t *)address;
	return true;
}

#endif
