/* SPDX-License-Identifier: MIT */
/*
 * The acquisitions that hold an object, from which its releases are matched: of a thread the one
 * with which its hold began, and then those within, of a recursive mutex or a reader.
 */
#ifndef PP_INDEX_OPENS_H
#define PP_INDEX_OPENS_H

#include "analysis/state/object_state.h"

struct pp_opens {
	GArray *all; /* of struct open, each thread's in order of time; NULL: none yet */
};

/* Its owner frees it with all that it has in it. */
void pp_opens_done(struct pp_opens *opens);

/* `depth`: that of the hold, this acquisition included. */
void pp_opens_add(struct pp_opens *opens, const struct pp_thread *thread, unsigned depth,
		  uint32_t operation);

/* The one with which the thread's hold began; PP_INDEX_NONE: not known. */
uint32_t pp_opens_first(const struct pp_opens *opens, const struct pp_thread *thread);

/* The same, and none of the thread's is there any more. */
uint32_t pp_opens_end(struct pp_opens *opens, const struct pp_thread *thread);

/*
 * The last one, which a release has undone that left the hold at `depth`, taken off;
 * PP_INDEX_NONE: it has undone none, or one that is not known.
 */
uint32_t pp_opens_undo(struct pp_opens *opens, const struct pp_thread *thread, unsigned depth);

#endif
