/* SPDX-License-Identifier: MIT */
/* The nested calls of a thread as lines, from its call history (analysis/call_stack.h). */
#ifndef PP_PASS_REPLAY_H
#define PP_PASS_REPLAY_H

#include "analysis/pass.h"

#define PP_DURATION_UNKNOWN (-1)

enum pp_replay_kind {
	PP_REPLAY_CALL,	  /* function entered; its callees follow */
	PP_REPLAY_LEAF,	  /* function entered and left without calls */
	PP_REPLAY_RETURN, /* return of a function that made calls */
};

struct pp_replay_line {
	enum pp_replay_kind kind;
	const struct pp_thread *thread;
	int64_t time_ns;
	int64_t duration_ns; /* for LEAF and RETURN */
	unsigned depth;
	const char *name; /* the function's name */
};

struct pp_replay;
struct pp_functions; /* analysis/call_stack.h */

/*
 * Replays the calls of the threads with that tid. has_returns: their returns are recorded.  `take`
 * receives the lines in the order of events, per thread.
 */
struct pp_replay *pp_replay_new(const struct pp_pass_context *context, uint32_t tid,
				bool has_returns,
				void (*take)(void *data, const struct pp_replay_line *line),
				void *data);

/* The same with a table of functions that several replays share.  The table must outlive them. */
struct pp_replay *pp_replay_new_sharing(struct pp_functions *functions, uint32_t tid,
					bool has_returns,
					void (*take)(void *data, const struct pp_replay_line *line),
					void *data);
void pp_replay_free(struct pp_replay *replay);
void pp_replay_event(struct pp_replay *replay, const struct pp_event *event);

/*
 * Emits a call that is held back, because another event occurred within it or the history has
 * ended.
 */
void pp_replay_release(struct pp_replay *replay);

/* The number of active calls. */
unsigned pp_replay_depth(const struct pp_replay *replay);

#endif
