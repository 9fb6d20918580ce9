/* SPDX-License-Identifier: MIT */
/*
 * The calls of a thread as a person reads them: nested, from their history (analysis/call_stack.h).
 */
#ifndef PP_PASS_REPLAY_H
#define PP_PASS_REPLAY_H

#include "analysis/pass.h"

#define PP_DURATION_UNKNOWN (-1)

enum pp_replay_kind {
	PP_REPLAY_CALL,	  /* entered; what it calls follows */
	PP_REPLAY_LEAF,	  /* entered and left, with nothing between */
	PP_REPLAY_RETURN, /* of a function that called others */
};

struct pp_replay_line {
	enum pp_replay_kind kind;
	const struct pp_thread *thread;
	int64_t time_ns;
	int64_t duration_ns; /* of LEAF and RETURN */
	unsigned depth;
	const char *name; /* of the function */
};

struct pp_replay;
struct pp_functions; /* analysis/call_stack.h */

/*
 * Of the threads with that tid; has_returns: of whose returns there are records.  `take` gets the
 * lines, thread by thread as they come.
 */
struct pp_replay *pp_replay_new(const struct pp_pass_context *context, uint32_t tid,
				bool has_returns,
				void (*take)(void *data, const struct pp_replay_line *line),
				void *data);

/* The same for one of many: what is known of functions is known to all.  They outlive it. */
struct pp_replay *pp_replay_new_sharing(struct pp_functions *functions, uint32_t tid,
					bool has_returns,
					void (*take)(void *data, const struct pp_replay_line *line),
					void *data);
void pp_replay_free(struct pp_replay *replay);
void pp_replay_event(struct pp_replay *replay, const struct pp_event *event);

/* What is held back comes: something else happened within that call, or this is the end. */
void pp_replay_release(struct pp_replay *replay);

/* Calls that go on. */
unsigned pp_replay_depth(const struct pp_replay *replay);

#endif
