/* SPDX-License-Identifier: MIT */
/*
 * The conflicts of two sets of accesses: the bytes that one writes and the other one accesses.  The
 * results of the last comparisons are kept, so comparing the same two sets again is a look-up.
 */
#ifndef PP_ANALYSIS_ACCESSES_OVERLAP_H
#define PP_ANALYSIS_ACCESSES_OVERLAP_H

#include <glib.h>

#include "core/access_set.h"

struct pp_overlap_line {
	uint64_t address;
	uint64_t bytes; /* conflicting ones; 0: one writes the line and the other one accesses it */
};

struct pp_overlap {
	bool has_bytes; /* they conflict in bytes, */
	bool has_lines; /* ... or in a line */
	unsigned n;	/* lines in which they conflict */
	const struct pp_overlap_line *lines;
};

struct pp_overlaps;

struct pp_overlaps *pp_overlaps_new(void);
void pp_overlaps_free(struct pp_overlaps *overlaps);

/* Valid until the next call. */
const struct pp_overlap *pp_overlaps_get(struct pp_overlaps *overlaps,
					 const struct pp_access_set *a,
					 const struct pp_access_set *b);

#endif
