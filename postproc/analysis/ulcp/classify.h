/* SPDX-License-Identifier: MIT */
/*
 * The classes of unnecessary lock contention (paper 003, section 2.1 and Algorithm 1): two critical
 * sections of one lock, in different threads, need not exclude each other if neither writes memory
 * that the other one accesses.
 *
 * The algorithm leaves conflicting pairs to a replay in the other order.  Some need none: a write
 * that leaves the value as it was (redundant) does not depend on the order, if the other section
 * does not change these bytes either.  Such a pair is benign.  Three forms of conflicts may be
 * harmless for reasons that accesses do not show, and are candidates for a replay: both sections
 * read and write the bytes (an update that may be commutative, or a field of bits), or one section
 * polls a flag that the other one sets.  All other conflicts are true contention: a section reads
 * another value in the other order, or another value remains.
 */
#ifndef PP_ANALYSIS_ULCP_CLASSIFY_H
#define PP_ANALYSIS_ULCP_CLASSIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/access_set.h"

enum pp_ulcp_class {
	PP_ULCP_NULL_LOCK,	/* one of them accesses nothing that is shared */
	PP_ULCP_READ_READ,	/* both only read what is shared */
	PP_ULCP_DISJOINT_WRITE, /* no conflict, but one writes what is shared */
	PP_ULCP_BENIGN,		/* all conflicting writes are redundant */
	PP_ULCP_TRUE,		/* necessary contention */
	PP_ULCP_UNDECIDED,	/* candidates, and sections whose accesses are not known */
	PP_ULCP_N_CLASSES
};

/* True for the classes of unnecessary contention. */
static inline bool pp_ulcp_is_unnecessary(enum pp_ulcp_class class)
{
	return class <= PP_ULCP_BENIGN;
}

/* How a section uses shared memory: memory that several threads access in sections. */
enum pp_ulcp_use { PP_ULCP_USES_NONE, PP_ULCP_READS, PP_ULCP_WRITES, PP_ULCP_N_USES };

/* The class of two sections that do not conflict. */
enum pp_ulcp_class pp_ulcp_class_of_uses(enum pp_ulcp_use a, enum pp_ulcp_use b);

/* The conflicting bytes whose value a section changes. */
static inline uint64_t pp_ulcp_contending(const struct pp_access_line *a,
					  const struct pp_access_line *b)
{
	return pp_access_conflicting(a, b) &
	       ((a->written & a->changed) | (b->written & b->changed));
}

/* How two sets conflict; each member is true if there is such a byte. */
struct pp_ulcp_conflict {
	bool conflicts;	       /* any */
	bool contends;	       /* one that is not redundant: one of the following */
	bool updates;	       /* both read and write it */
	bool first_only_reads; /* ... and the second one does not, */
	bool second_only_reads;
	bool writes; /* all others: both write it, and one of them does not read it */
};

struct pp_ulcp_conflict pp_ulcp_compare(const struct pp_access_set *a,
					const struct pp_access_set *b);

/*
 * The class of two sections that conflict.  first_polls: the first one's thread has executed the
 * same section before, and found the same values, so that it may wait for a flag.  second_polls:
 * the section of its thread before the second one did that.
 */
enum pp_ulcp_class pp_ulcp_class_of_conflict(const struct pp_ulcp_conflict *conflict,
					     bool first_polls, bool second_polls);

#endif
