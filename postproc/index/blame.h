/* SPDX-License-Identifier: MIT */
/*
 * The causes of one wait, from an index: the same division of its time as by analysis/blame, but
 * with the operations that began and ended each hold.
 */
#ifndef PP_INDEX_BLAME_H
#define PP_INDEX_BLAME_H

#include "index/index.h"

struct pp_index_cause {
	uint32_t begin;	 /* the acquisition; PP_INDEX_NONE: no hold, or not known */
	uint32_t end;	 /* the release, or the call that ended the wait; PP_INDEX_NONE: none */
	uint32_t thread; /* to blame */
	bool is_hold;
	int64_t from_ns, to_ns; /* the part of the wait's time */
	int64_t ns;		/* its share of it, since others may hold the object, too */
};

struct pp_index_blame {
	GArray *causes; /* of struct pp_index_cause, the largest first */
	int64_t wait_ns;
	int64_t rest_ns; /* without a cause: hand-over, or unknown */
	const char *why; /* the rest is unknown; NULL: hand-over */
	bool is_cut;	 /* there were too many operations during the wait to look at all */
};

/* `operation` is a wait.  After this, call pp_index_blame_done(). */
void pp_index_blame_init(struct pp_index_blame *blame, const struct pp_index *index,
			 uint32_t operation);
void pp_index_blame_done(struct pp_index_blame *blame);

#endif
