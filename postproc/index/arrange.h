/* SPDX-License-Identifier: MIT */
/* The end of making an index: what belongs to one thread or object is brought together. */
#ifndef PP_INDEX_ARRANGE_H
#define PP_INDEX_ARRANGE_H

#include "index/index.h"

struct pp_logged_step {
	uint64_t step; /* as in PP_SECTION_STEPS */
	uint32_t lane; /* thread or object */
	uint32_t pad;
};

/*
 * Logs are of struct pp_logged_step, each lane's in order of time; what threads and objects there
 * are is known.  False: it was stopped.
 */
bool pp_index_arrange(struct pp_index *index, const struct pp_mapped_array *thread_log,
		      const struct pp_mapped_array *object_log,
		      const struct pp_index_progress *progress);

#endif
