/* SPDX-License-Identifier: MIT */
/*
 * The blocks of the heap that threads freed, to tell which memory of a section another thread freed
 * later.  Until then the section's thread might still access it: only the lock, or something else
 * in the program, ordered the access before the free.
 */
#ifndef PP_REPLAY_FREES_H
#define PP_REPLAY_FREES_H

#include "core/access_set.h"
#include "core/model.h"

struct pp_replay_frees;

struct pp_replay_frees *pp_replay_frees_new(void);
void pp_replay_frees_free(struct pp_replay_frees *frees);

/* The thread frees these bytes.  To be called in order of the times. */
void pp_replay_frees_add(struct pp_replay_frees *frees, const struct pp_thread *thread,
			 uint64_t address, uint64_t size, int64_t time_ns);

/*
 * Returns a new reference to the part of the set that another thread freed later, before this one
 * ended; NULL: none.  since_ns: the begin of the section of the thread that accessed it.
 */
struct pp_access_set *pp_replay_frees_part(const struct pp_replay_frees *frees,
					   const struct pp_thread *thread, int64_t since_ns,
					   const struct pp_access_set *set);

#endif
