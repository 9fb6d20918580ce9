/* SPDX-License-Identifier: MIT */
/* The types of blocks of the heap, by the call that allocated them. */
#ifndef PP_SYMBOLS_ALLOCATED_H
#define PP_SYMBOLS_ALLOCATED_H

#include <stdint.h>

#include <elfutils/libdwfl.h>

#include "symbols/code.h"

struct pp_allocated;

/* A variable's start; 0: none contains the address. */
struct pp_allocated_variables {
	void *data;
	uint64_t (*start)(void *data, uint64_t address);
	struct pp_variables *variables;
};

/* The module, the code and the variables still belong to the caller, and must outlive the result.
 */
struct pp_allocated *pp_allocated_new(Dwfl_Module *module, struct pp_code *code,
				      const struct pp_allocated_variables *variables);
void pp_allocated_free(struct pp_allocated *allocated);

/*
 * The part at an offset of a block of `n_bytes` that was allocated by the call which returns to
 * `site` (a link-time address): "struct node.left", "struct entry[3].count".  NULL if the type is
 * not known, or the size of the block is no multiple of its size.  The caller frees it.
 */
char *pp_allocated_part(struct pp_allocated *allocated, uint64_t site, uint64_t n_bytes,
			uint64_t offset);

#endif
