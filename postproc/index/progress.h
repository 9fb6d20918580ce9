/* SPDX-License-Identifier: MIT */
/* For work that takes long: who waits is told how far it is, and may have had enough. */
#ifndef PP_INDEX_PROGRESS_H
#define PP_INDEX_PROGRESS_H

#include <stdbool.h>

struct pp_index_progress {
	/* Asked now and then; share: 0..1.  False: the rest is not wanted. */
	bool (*go_on)(void *data, double share);
	void *data;
};

#endif
