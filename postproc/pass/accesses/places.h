/* SPDX-License-Identifier: MIT */
/* Names of places in memory. */
#ifndef PP_PASS_ACCESSES_PLACES_H
#define PP_PASS_ACCESSES_PLACES_H

#include "analysis/accesses/blocks.h"
#include "analysis/pass.h"

/*
 * "table[3].next", "block of 64 bytes allocated at make (a.c:3) + 8", or "0x7f...".  The caller
 * frees it.
 */
char *pp_place_name(const struct pp_pass_context *context, const struct pp_memory_place *place);

/*
 * The same without the numbers of elements, "table[].next", and without the offset in a variable of
 * unknown type or in a large block.  The caller frees it.
 */
char *pp_place_group(const struct pp_pass_context *context, const struct pp_memory_place *place);

/* True for memory that is neither in a known block nor a variable, and not on the heap: a stack. */
bool pp_place_is_nameless(const struct pp_pass_context *context, const struct pp_process *process,
			  uint64_t address);

#endif
