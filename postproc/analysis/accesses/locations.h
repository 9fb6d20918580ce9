/* SPDX-License-Identifier: MIT */
/*
 * The memory of critical sections, with the sections and threads that access it.
 *
 * A *location* is the part of an aligned word of 8 bytes that a section accesses in one way: the
 * bytes that it writes are one, those that it only reads another.  A location, or a line of 64
 * bytes, is *shared* if two threads access it in sections during its life, else *private*.  The
 * life of a location ends when its block is freed; and that of memory that is neither a variable
 * nor in a known block, for which `is_reused` returns true, when all threads that accessed it have
 * ended before another one began: it is mostly the stack of a later thread.  Accesses outside of
 * sections are not known.
 *
 * A line is *falsely shared* if two threads access it, at least one of them writes, and neither
 * writes bytes that the other one accesses.
 *
 * Equal instances (of a user and a thread, with the same set) are counted first, and added to the
 * lines when a life ends or many have been counted; so a repeated set costs a look-up.  Memory is
 * bounded by the memory that sections access, times the threads and users of each line.
 */
#ifndef PP_ANALYSIS_ACCESSES_LOCATIONS_H
#define PP_ANALYSIS_ACCESSES_LOCATIONS_H

#include "analysis/accesses/blocks.h"
#include "analysis/accesses/users.h"
#include "core/access_set.h"

/* One of two threads that share a line falsely. */
struct pp_line_side {
	struct pp_location_user *user; /* lent */
	const struct pp_thread *thread;
	uint64_t read, written;	      /* of the line's bytes, by the thread */
	uint64_t site;		      /* of its first access in an instance; 0: not known */
	struct pp_memory_place place; /* of its first byte */
	uint64_t n;		      /* instances of `user` in the thread that access the line */
};

struct pp_locations_listener {
	void *data;
	/* The life of a location ended, which n instances accessed. */
	void (*location)(void *data, struct pp_location_user *user,
			 const struct pp_memory_place *place, bool is_written, bool is_shared,
			 uint64_t n);
	/*
	 * A line is falsely shared by these two, the first of which writes, among `n_threads`;
	 * `is_contended`: other bytes of it are shared truly, and written, by other threads.
	 */
	void (*false_sharing)(void *data, const struct pp_memory_place *line,
			      const struct pp_line_side sides[2], unsigned n_threads,
			      bool is_contended);
	/* See above; NULL: no memory is. */
	bool (*is_reused)(void *data, const struct pp_process *process, uint64_t address);
};

struct pp_locations;

/* The listener is borrowed. */
struct pp_locations *pp_locations_new(const struct pp_locations_listener *listener);
void pp_locations_free(struct pp_locations *locations);

/* An instance of `user` in the thread accessed these. */
void pp_locations_add(struct pp_locations *locations, struct pp_location_user *user,
		      const struct pp_thread *thread, struct pp_access_set *set);

void pp_locations_block(struct pp_locations *locations, const struct pp_process *process,
			uint64_t address, uint64_t size, uint64_t site);
void pp_locations_freed(struct pp_locations *locations, const struct pp_process *process,
			uint64_t address, uint64_t size);

/* Ends all lives: the sums are complete. */
void pp_locations_finish(struct pp_locations *locations);

const struct pp_blocks *pp_locations_blocks(const struct pp_locations *locations);

#endif
