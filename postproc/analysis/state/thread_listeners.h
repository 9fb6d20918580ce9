/* SPDX-License-Identifier: MIT */
/* Several listeners of one state machine (thread_mode.h), called in the order in which they came.
 */
#ifndef PP_ANALYSIS_STATE_THREAD_LISTENERS_H
#define PP_ANALYSIS_STATE_THREAD_LISTENERS_H

#include "analysis/state/thread_mode.h"

struct pp_thread_listeners {
	struct pp_thread_listener all; /* calls each */
	GPtrArray *list;	       /* of const struct pp_thread_listener *, borrowed */
};

void pp_thread_listeners_init(struct pp_thread_listeners *listeners);
void pp_thread_listeners_done(struct pp_thread_listeners *listeners);

/* Returns the listener for the state machine from now on. */
const struct pp_thread_listener *pp_thread_listeners_add(struct pp_thread_listeners *listeners,
							 const struct pp_thread_listener *listener);

#endif
