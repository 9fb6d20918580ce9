/* SPDX-License-Identifier: MIT */
/*
 * Tells whether critical sections access shared memory, and whether they write it.
 * Memory is *shared* if two threads access it in sections during its life, else *private*, as in
 * analysis/accesses/locations.h; here byte by byte.
 *
 * A section gets the number of its accesses: those of one thread, with the same set, have one
 * number as long as none of the memory ends its life.  What they do with shared memory is complete
 * when all lives have ended: a later access of another thread may still share it.  Memory is
 * bounded by the different sets of threads on memory that exists, and a byte for each number.
 */
#ifndef PP_ANALYSIS_ULCP_USES_H
#define PP_ANALYSIS_ULCP_USES_H

#include "analysis/ulcp/classify.h"
#include "core/model.h"

struct pp_ulcp_uses_listener {
	void *data;
	/*
	 * True if the memory has neither a name nor a block, so that a thread that begins after all
	 * others that accessed it have ended is a new life of it: mostly a stack.  The address is
	 * that of a byte that was accessed: a line may begin before the block.
	 */
	bool (*is_reused)(void *data, const struct pp_process *process, uint64_t address);
	/* The life of a line of memory ends for this reason. */
	void (*reused)(void *data, const struct pp_process *process, uint64_t address);
};

struct pp_ulcp_uses;

/* The listener is borrowed. */
struct pp_ulcp_uses *pp_ulcp_uses_new(const struct pp_ulcp_uses_listener *listener);
void pp_ulcp_uses_free(struct pp_ulcp_uses *uses);

/* A section of the thread accesses these.  Returns the number of its accesses. */
uint32_t pp_ulcp_uses_add(struct pp_ulcp_uses *uses, const struct pp_thread *thread,
			  struct pp_access_set *set);

/* The use by accesses with that number, as far as it is known. */
enum pp_ulcp_use pp_ulcp_uses_get(const struct pp_ulcp_uses *uses, uint32_t number);

/* All locations in these bytes end their life. */
void pp_ulcp_uses_end_life(struct pp_ulcp_uses *uses, const struct pp_process *process,
			   uint64_t address, uint64_t size);

#endif
