/* SPDX-License-Identifier: MIT */
/*
 * The search of rule 1 (paper 003, section 3.1): for a critical section, the first later section of
 * the same lock in *each* other thread that contends with it, that is conflicts with it by a write
 * that is not redundant (classify.h).  Candidates for a replay in the other order count as
 * contending, since their order must be kept until they are shown to be benign.
 *
 * The search is not quadratic.  Sections are added in the order in which they had the lock.  Each
 * line of memory has groups of sections that access it by the same masks, in order of their last
 * instances, and each group knows which of them each thread has seen.  A new section of thread u
 * looks only at those groups of its lines with which it contends, and there at the instances that u
 * has not seen so far: these are contended by it first.  So an instance costs, for each of its
 * lines, a step for each thread that contends with it, and one for each group of the line, of which
 * there are at most 704: lines with more than 384 kinds of accesses get one for each byte.
 *
 * Instances of one thread with the same set and tag are counted in one place (a *source*), so that
 * memory is bounded by the different sets on memory that exists, times the threads; if the listener
 * wants the numbers of sections, these are kept, too.
 *
 * Addresses belong to one process: each has a search of its own.  Not thread-safe.
 */
#ifndef PP_ANALYSIS_ULCP_SEARCH_H
#define PP_ANALYSIS_ULCP_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/access_set.h"

/* `target` is the first section of its thread that contends with n sections of another thread. */
struct pp_ulcp_search_listener {
	void *data;
	/*
	 * The numbers of the n sections (the `id` of pp_ulcp_search_add()), in increasing order of
	 * their calls.  NULL: numbers are not kept.  For each pair of a section and another thread
	 * there is at most one such edge.
	 */
	void (*edges)(void *data, const uint64_t *sources, size_t n, uint64_t target);
	/* The same, with the tag of the sections; NULL: not wanted. */
	void (*contended)(void *data, uint64_t tag, uint64_t n, uint64_t target);
};

struct pp_ulcp_search;
struct pp_ulcp_lock;

/* The listener is borrowed. */
struct pp_ulcp_search *pp_ulcp_search_new(const struct pp_ulcp_search_listener *listener);

/* All of its locks must have been freed. */
void pp_ulcp_search_free(struct pp_ulcp_search *search);

/* A lock without sections. */
struct pp_ulcp_lock *pp_ulcp_lock_new(struct pp_ulcp_search *search);
void pp_ulcp_lock_free(struct pp_ulcp_lock *lock); /* NULL: nothing */

/*
 * Adds a section of the lock, the next one in the order in which they had it.  It calls the
 * listener for all edges to it.  thread: any number; id, tag: of the caller.  Keeps a reference to
 * the set as long as it needs it.
 */
void pp_ulcp_search_add(struct pp_ulcp_lock *lock, uint32_t thread, uint64_t id, uint64_t tag,
			struct pp_access_set *set);

/*
 * The same for a reader of a read-write lock, in any order with other readers: they do not exclude
 * each other, so there are no edges between them.
 */
void pp_ulcp_search_add_reader(struct pp_ulcp_lock *lock, uint32_t thread, uint64_t id,
			       uint64_t tag, struct pp_access_set *set);

/*
 * Memory of the section that will be added next (for this thread, with this id) is about to end its
 * life (pp_ulcp_search_end_life()): calls the listener for edges to the section that come from this
 * part of its accesses.
 */
void pp_ulcp_search_add_ending(struct pp_ulcp_lock *lock, uint32_t thread, uint64_t id,
			       bool is_reader, const struct pp_access_set *part);

/* All locations in these bytes end their life: later accesses do not conflict with earlier ones. */
void pp_ulcp_search_end_life(struct pp_ulcp_search *search, uint64_t address, uint64_t size);

#endif
