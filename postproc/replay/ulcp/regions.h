/* SPDX-License-Identifier: MIT */
/*
 * Code regions of critical sections, and pairs of sections that are fused by them (paper 003,
 * algorithm 2). A region is the lines of one function from the acquisition to the release; if these
 * are in two functions, it is the acquisition alone.
 */
#ifndef PP_REPLAY_ULCP_REGIONS_H
#define PP_REPLAY_ULCP_REGIONS_H

#include "replay/ulcp/gain.h"

struct pp_ulcp_region {
	char *function;	   /* "function (file:", or, without lines, the whole name of a call site */
	unsigned from, to; /* lines; 0: they are not known */
};

struct pp_ulcp_fused {
	struct pp_ulcp_region regions[2];
	uint32_t object; /* the lock; PP_ULCP_SEVERAL */
	uint64_t n;	 /* pairs of sections */
	double gain_ns;
};

#define PP_ULCP_SEVERAL UINT32_MAX

/* The region between two call sites with these names. */
struct pp_ulcp_region pp_ulcp_region(const char *acquired, const char *released);
/* "function (file:12-20)"; the caller frees it. */
char *pp_ulcp_region_text(const struct pp_ulcp_region *region);
/* True if they share a line. */
bool pp_ulcp_regions_overlap(const struct pp_ulcp_region *a, const struct pp_ulcp_region *b);

/*
 * Returns the pairs fused by their regions (of struct pp_ulcp_fused), those with the greatest gain
 * first: no two of them can be fused any more. Beyond the first 1000 different pairs of regions,
 * pairs are only fused with equal ones; *ret_all is then false. The caller unrefs the array.
 */
GArray *pp_ulcp_fuse(const struct pp_replay_model *model, const GArray *sections,
		     const GArray *pairs, bool *ret_all);

#endif
