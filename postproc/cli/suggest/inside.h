/* SPDX-License-Identifier: MIT */
/* The samples and releases of critical sections, by the call that entered them; from the events. */
#ifndef PP_CLI_SUGGEST_INSIDE_H
#define PP_CLI_SUGGEST_INSIDE_H

#include "cli/view.h"

struct pp_suggest_sample {
	const struct pp_path *path; /* of the model */
	uint64_t n, ns;		    /* samples; CPU time for which they stand */
};

struct pp_suggest_inside {
	uint64_t entry;	   /* return address of the call that takes the lock */
	GHashTable *exits; /* set of uint64_t *: of the calls that release it */
	/* The same: of all other operations in the sections. */
	GHashTable *operations;
	GHashTable *samples; /* path -> struct pp_suggest_sample * */
};

/* Returns an array of struct pp_suggest_inside *, which the caller unrefs; NULL after an error. */
GPtrArray *pp_suggest_inside_read(struct pp_view *view, struct pp_error *err);

#endif
