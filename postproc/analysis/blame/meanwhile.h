/* SPDX-License-Identifier: MIT */
/*
 * Further facts about waits for locks, which the cells of blame do not have: which threads waited
 * for an object, and in which blocking calls, or waits for other objects, the holders of contended
 * locks were.  They are taken from the events as such, and are left out where these contradict each
 * other, or have too many different objects.
 */
#ifndef PP_ANALYSIS_BLAME_MEANWHILE_H
#define PP_ANALYSIS_BLAME_MEANWHILE_H

#include "analysis/state/thread_state.h"

struct pp_meanwhile;

struct pp_meanwhile *pp_meanwhile_new(const struct pp_pass_context *context);
void pp_meanwhile_free(struct pp_meanwhile *meanwhile);
void pp_meanwhile_event(struct pp_meanwhile *meanwhile, const struct pp_event *event);

/* An object, and the call sites of its hold. */
struct pp_meanwhile_hold {
	const struct pp_process *process;
	uint64_t object, acquired, released;
};

struct pp_meanwhile_waiters {
	unsigned n;
	int64_t sum_ns;
	const struct pp_thread *longest;
	int64_t longest_ns;
};

/*
 * The threads that waited for these objects (acquired and released are not used).  With waits for
 * other generations at the addresses, so the caller compares the sum.
 */
void pp_meanwhile_waiters(const struct pp_meanwhile *meanwhile, const GArray *objects,
			  struct pp_meanwhile_waiters *ret);

struct pp_meanwhile_block {
	enum st_io_call call; /* ST_N_IO_CALLS: a wait */
	const struct pp_process *process;
	uint64_t object; /* that the holder waited for */
	int64_t ns;	 /* on a CPU, too */
};

/*
 * In which call or wait the holders were for most of their time in this mode, while others waited;
 * holds: of struct pp_meanwhile_hold.  Returns false if there is none, or none has half of it.
 */
bool pp_meanwhile_find_block(const struct pp_meanwhile *meanwhile, const GArray *holds,
			     enum pp_mode mode, struct pp_meanwhile_block *ret);

#endif
