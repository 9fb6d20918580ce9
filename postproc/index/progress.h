/* SPDX-License-Identifier: MIT */
/* Reports the progress of long work, and lets the user stop it. */
#ifndef PP_INDEX_PROGRESS_H
#define PP_INDEX_PROGRESS_H

#include <stdbool.h>

struct pp_index_progress {
	/* Called from time to time; `share` is 0 to 1.  False stops the work. */
	bool (*go_on)(void *data, double share);
	void *data;
};

#endif
