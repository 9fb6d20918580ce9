/* SPDX-License-Identifier: MIT */
/* The file of a schedule, and its outcome. */
#ifndef PP_REPLAY_LIVE_FILE_H
#define PP_REPLAY_LIVE_FILE_H

#include "replay/live/schedule.h"

/* Bytes of a cache line of which the process computes a digest. */
struct pp_schedule_line {
	const char *module; /* interned; NULL: `offset` is an address */
	uint64_t offset, bytes;
	uint32_t thread; /* whose section alone writes them; ST_SCHEDULE_NONE: both access them */
};

/* Two sections with which a schedule ends (sync-trace/schedule.h). */
struct pp_schedule_pair {
	uint32_t first, second; /* numbers of threads, in the recorded order */
	bool is_reversed;	/* the second one is to be executed first */
	uint64_t *n_ops;	/* by number of the thread: operations before both sections */
	GArray *lines;		/* of struct pp_schedule_line */
};

/* Do both threads then acquire the same lock, with no third one in between? */
bool pp_schedule_pair_is_good(const struct pp_schedule *schedule,
			      const struct pp_schedule_pair *pair);

/*
 * Writes the schedule to a new file that only this user may access. pair: where it ends; NULL: it
 * is written as a whole. Returns its first page, in
 * which the process that takes it stores the outcome, or NULL. The caller frees it with
 * pp_schedule_page_free().
 */
struct st_schedule *pp_schedule_write(const struct pp_schedule *schedule,
				      const struct pp_schedule_pair *pair, const char *path,
				      struct pp_error *err);
void pp_schedule_page_free(struct st_schedule *page);

/*
 * How the program has left the schedule: "thread 2, operation 7: mutex_lock at f (a.c:3), recorded
 * as mutex_trylock at g (a.c:5)". site: of the operation; NULL: not known. The caller frees it.
 */
char *pp_schedule_left_text(const struct pp_schedule *schedule,
			    const struct st_schedule_outcome *outcome, const char *site);

#endif
