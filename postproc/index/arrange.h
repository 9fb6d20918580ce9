/* SPDX-License-Identifier: MIT */
/* The last step of making an index: groups operations and states by thread and by object. */
#ifndef PP_INDEX_ARRANGE_H
#define PP_INDEX_ARRANGE_H

#include "index/index.h"

struct pp_logged_step {
	uint64_t step; /* encoded as in PP_SECTION_STEPS */
	uint32_t lane; /* number of a thread or object */
	uint32_t pad;
};

/* The time of a step at the end of the index, which is not known yet. */
#define PP_LOGGED_AT_END (UINT64_MAX >> 3)

/*
 * The logs hold struct pp_logged_step, in time order for each lane.  All threads and objects must
 * be known.  Returns false if `progress` stopped it.
 */
bool pp_index_arrange(struct pp_index *index, const struct pp_mapped_array *thread_log,
		      const struct pp_mapped_array *object_log,
		      const struct pp_index_progress *progress);

#endif
