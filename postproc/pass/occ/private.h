/* SPDX-License-Identifier: MIT */
/*
 * Memory that belongs to one thread: lines that are neither a variable's nor in a known block of
 * the heap, such as the thread's own stack, until another thread accesses them.  They are left out
 * of the accesses of critical sections, as in paper 001.
 */
#ifndef PP_PASS_OCC_PRIVATE_H
#define PP_PASS_OCC_PRIVATE_H

#include "analysis/pass.h"
#include "core/access_set.h"

struct pp_occ_private;

struct pp_occ_private *pp_occ_private_new(const struct pp_pass_context *context);
void pp_occ_private_free(struct pp_occ_private *priv);

/* A block of the heap begins or ends its life. */
void pp_occ_private_block(struct pp_occ_private *priv, const struct pp_process *process,
			  uint64_t address, uint64_t size, uint64_t site);
void pp_occ_private_freed(struct pp_occ_private *priv, const struct pp_process *process,
			  uint64_t address, uint64_t size);

/* Returns a new reference: the set that the thread accessed, without its private lines. */
struct pp_access_set *pp_occ_private_leave_out(struct pp_occ_private *priv,
					       const struct pp_thread *thread,
					       struct pp_access_set *set);

#endif
