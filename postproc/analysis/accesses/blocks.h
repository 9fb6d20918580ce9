/* SPDX-License-Identifier: MIT */
/*
 * The blocks of the heap that exist, by address, and places in memory that have a name of their
 * own: in a block, by the call that allocated it, else by their address.
 */
#ifndef PP_ANALYSIS_ACCESSES_BLOCKS_H
#define PP_ANALYSIS_ACCESSES_BLOCKS_H

#include "core/model.h"

struct pp_memory_place {
	const struct pp_process *process;
	bool is_heap;	  /* in a block of the heap */
	uint64_t site;	  /* ... allocated by the call that returns there; 0: not known */
	uint64_t size;	  /* ... of that many bytes */
	uint64_t address; /* in a block: the offset in it */
};

struct pp_blocks;

struct pp_blocks *pp_blocks_new(void);
void pp_blocks_free(struct pp_blocks *blocks);

/* A block exists from now on, in place of those that it overlaps. */
void pp_blocks_add(struct pp_blocks *blocks, const struct pp_process *process, uint64_t address,
		   uint64_t size, uint64_t site);

/* The blocks that overlap [address, address + size) exist no more. */
void pp_blocks_remove(struct pp_blocks *blocks, const struct pp_process *process, uint64_t address,
		      uint64_t size);

struct pp_memory_place pp_blocks_place(const struct pp_blocks *blocks,
				       const struct pp_process *process, uint64_t address);

guint pp_memory_place_hash(const void *place);
gboolean pp_memory_place_equal(const void *a, const void *b);

/* Orders places: those of one block, or of the other memory, by address. */
int pp_memory_place_compare(const struct pp_memory_place *a, const struct pp_memory_place *b);

#endif
