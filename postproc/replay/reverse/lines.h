/* SPDX-License-Identifier: MIT */
/* The bytes that two critical sections write, of which a replay computes digests. */
#ifndef PP_REPLAY_REVERSE_LINES_H
#define PP_REPLAY_REVERSE_LINES_H

#include "core/access_set.h"
#include "core/namer.h"

/* Whose bytes: both sections access them, and one writes them, or only one section writes them. */
enum pp_reversal_owner { PP_REVERSAL_BOTH, PP_REVERSAL_FIRST, PP_REVERSAL_SECOND };

struct pp_reversal_line {
	const char *module; /* file name; interned; NULL: `offset` is an address */
	uint64_t offset;    /* of the line */
	uint64_t bytes;	    /* bit i: the byte at offset + i */
	enum pp_reversal_owner owner;
};

/* The lines of two sections of the process (of struct pp_reversal_line), in order of addresses. */
GArray *pp_reversal_lines(const struct pp_access_set *first, const struct pp_access_set *second,
			  const struct pp_process *process, const struct pp_namer *namer);

/* Are the bytes with that owner the same? */
bool pp_reversal_lines_equal(const GArray *a, const GArray *b, enum pp_reversal_owner owner);

/* Is a byte of both sections of `a` also one of both sections of `b`? */
bool pp_reversal_lines_meet(const GArray *a, const GArray *b);

#endif
