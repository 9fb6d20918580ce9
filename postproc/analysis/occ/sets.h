/* SPDX-License-Identifier: MIT */
/*
 * The memory that an instance of a critical section accessed, as sets of bytes, and what two of
 * these sets have in common (paper 001, section 2.3).
 *
 * A location is the part of an aligned word of 8 bytes that is accessed in one way: the bytes that
 * are written, or those that are only read.  Two accesses conflict if they have a byte in common,
 * so two variables in one word do not.
 */
#ifndef PP_ANALYSIS_OCC_SETS_H
#define PP_ANALYSIS_OCC_SETS_H

#include "core/access_set.h"

/* Lines and locations of a set that are written, and the others. */
struct pp_occ_size {
	unsigned written_lines, read_lines;
	unsigned written_locations, read_locations;
};

/* The bytes that one instance accesses and another one writes. */
struct pp_occ_common {
	unsigned n_locations; /* 0: no conflict */
	unsigned n_lines;     /* 0: no conflict of whole lines either */
};

struct pp_occ_size pp_occ_size(const struct pp_access_set *set);

/*
 * Returns what `reader`, which also writes, would see change if `writer` was executed at the same
 * time.  It does not see that it writes what the other one only reads.
 */
struct pp_occ_common pp_occ_common(const struct pp_access_set *reader,
				   const struct pp_access_set *writer);

/* The last results of these functions, by the serials of the sets: its memory is fixed. */
struct pp_occ_memo;

struct pp_occ_memo *pp_occ_memo_new(void);
void pp_occ_memo_free(struct pp_occ_memo *memo);
struct pp_occ_size pp_occ_memo_size(struct pp_occ_memo *memo, const struct pp_access_set *set);
struct pp_occ_common pp_occ_memo_common(struct pp_occ_memo *memo,
					const struct pp_access_set *reader,
					const struct pp_access_set *writer);

#endif
