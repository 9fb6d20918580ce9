/* SPDX-License-Identifier: MIT */
/*
 * The operations and threads of which a condition of `record --when` is true.  Each makes it true
 * once, however long it goes on.
 */
#ifndef PP_CLI_RECORDING_WHEN_HITS_H
#define PP_CLI_RECORDING_WHEN_HITS_H

#include "cli/recording/condition.h"
#include "cli/view.h"

struct pp_hits {
	GArray *whens; /* of struct pp_when; borrowed */
	GHashTable
	    *told; /* condition, thread and object or call -> time before which it was told */
	GHashTable *stalls;  /* condition, pid and tid -> struct stall */
	bool is_pending;     /* the last look found an operation that is too long and goes on */
	GString *whys;	     /* reasons in words; a look adds its own */
	GHashTable *options; /* of the pass: to name all objects and calls */
};

/* The pass that the view must have run. */
#define PP_HITS_PASS "long-operations"

void pp_hits_init(struct pp_hits *hits, GArray *whens);
void pp_hits_done(struct pp_hits *hits);

/* The options for the pass of the next look; NULL: none. */
GHashTable *pp_hits_options(const struct pp_hits *hits);

/*
 * Finds those in the part of the time that the view has read.  is_last: the program has ended, so
 * no operation goes on.
 */
void pp_hits_look(struct pp_hits *hits, const struct pp_view *view, bool is_last);

#endif
