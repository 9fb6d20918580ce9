/* SPDX-License-Identifier: MIT */
/*
 * The acquisitions that hold an object, against which its releases are matched.  For each thread:
 * the acquisition that began its hold, then the nested ones, of a recursive mutex or a reader.
 */
#ifndef PP_INDEX_OPENS_H
#define PP_INDEX_OPENS_H

#include "analysis/state/object_state.h"

struct pp_opens {
	GArray *all; /* of struct open, in time order for each thread; NULL: none yet */
};

/* Frees the contents; the owner frees the struct. */
void pp_opens_done(struct pp_opens *opens);

/* `depth`: nesting depth of the hold, including this acquisition. */
void pp_opens_add(struct pp_opens *opens, const struct pp_thread *thread, unsigned depth,
		  uint32_t operation);

/* Returns the acquisition that began the thread's hold; PP_INDEX_NONE: unknown. */
uint32_t pp_opens_first(const struct pp_opens *opens, const struct pp_thread *thread);

/* Same as pp_opens_first(), and removes all entries of the thread. */
uint32_t pp_opens_end(struct pp_opens *opens, const struct pp_thread *thread);

/*
 * Removes and returns the last acquisition, which a release undid that left the hold at `depth`;
 * PP_INDEX_NONE: the release undid none, or an unknown one.
 */
uint32_t pp_opens_undo(struct pp_opens *opens, const struct pp_thread *thread, unsigned depth);

#endif
