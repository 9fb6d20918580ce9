/* SPDX-License-Identifier: MIT */
/*
 * The time of threads by call path: waits by operation, blocking calls, and CPU time by samples.
 *
 * Every wait is in exactly one use, so their sum is that of section `sync`: a wait without a call
 * path (too short for one, or the path was lost) is in the use of its call site.  Every sample is
 * in one use, too.  A thread without samples in its stream, but with a histogram of samples, has
 * uses by sampled address, unless a time is selected.
 *
 * The time of a sample that was taken during a wait or blocking call is in both, so it is also
 * counted apart: the sum without it is wall time.  Other time has no path, and is known by thread
 * and mode.
 */
#ifndef PP_ANALYSIS_PATHS_SUMS_H
#define PP_ANALYSIS_PATHS_SUMS_H

#include "analysis/state/object_state.h"

/* The events that are needed. */
#define PP_PATH_SUMS_KINDS (PP_THREAD_STATE_KINDS | PP_EVENT_MASK(PP_EVENT_SAMPLE))

enum pp_path_kind {
	PP_PATH_WAIT, /* in a synchronization operation */
	PP_PATH_CALL, /* in another blocking call */
	PP_PATH_CPU,
	PP_PATH_BLAME, /* not from here: a part of others' waits that is charged to the path */
};

/* All time with the same fields. */
struct pp_path_use {
	const struct pp_process *process;
	const struct pp_thread *thread; /* NULL: threads are not told apart */
	const struct pp_path *path;	/* NULL: not known */
	uint64_t site;			/* without a path: the innermost address; 0: not known */
	enum pp_path_kind kind;
	unsigned op;	     /* PP_PATH_WAIT: enum st_event; PP_PATH_CALL: enum st_io_call */
	unsigned serial;     /* 0, 1, ... in order of appearance */
	uint64_t n;	     /* operations that waited, calls, or samples */
	int64_t ns;	     /* waited, or CPU time */
	int64_t in_waits_ns; /* PP_PATH_CPU: the part during waits and calls */
	/* PP_PATH_BLAME: the innermost node, borrowed; NULL: the innermost function of the path */
	const char *function;
	bool is_whole; /* ... and the only one */
};

/* The selected time of a thread. */
struct pp_path_thread {
	int64_t wait_ns, call_ns, cpu_ns, in_waits_ns;
	int64_t elsewhere_ns[PP_N_MODES]; /* time in no wait and no call, by mode */
	bool sampled;			  /* its stream has samples, selected or not */
	int64_t covered_ns;		  /* for sums.c: part of the current mode's time in waits */
	int64_t covered_until_ns;	  /* ... the end of that part */
};

struct pp_path_sums;

/* by_thread: uses of different threads are different. */
struct pp_path_sums *pp_path_sums_new(const struct pp_pass_context *context, bool by_thread);
void pp_path_sums_free(struct pp_path_sums *sums);
void pp_path_sums_event(struct pp_path_sums *sums, const struct pp_event *event);
void pp_path_sums_finish(struct pp_path_sums *sums, int64_t end_ns);

/* The following may be called after the end. */

/* The selected uses, in order of appearance: an array of const struct pp_path_use *. */
const GPtrArray *pp_path_sums_uses(const struct pp_path_sums *sums);

/* NULL if nothing is known of the thread. */
const struct pp_path_thread *pp_path_sums_thread(const struct pp_path_sums *sums,
						 const struct pp_thread *thread);

const struct pp_thread_states *pp_path_sums_states(const struct pp_path_sums *sums);

/* True if there are samples of any thread. */
bool pp_path_sums_has_samples(const struct pp_path_sums *sums);

#endif
