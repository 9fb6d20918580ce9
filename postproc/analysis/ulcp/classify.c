/* SPDX-License-Identifier: MIT */
/* Goes through both sets in order of addresses; each byte of a line is a bit of its masks. */
#include "analysis/ulcp/classify.h"

enum pp_ulcp_class pp_ulcp_class_of_uses(enum pp_ulcp_use a, enum pp_ulcp_use b)
{
	if (a == PP_ULCP_USES_NONE || b == PP_ULCP_USES_NONE)
		return PP_ULCP_NULL_LOCK;
	return a == PP_ULCP_READS && b == PP_ULCP_READS ? PP_ULCP_READ_READ
							: PP_ULCP_DISJOINT_WRITE;
}

static void compare_lines(struct pp_ulcp_conflict *conflict, const struct pp_access_line *a,
			  const struct pp_access_line *b)
{
	uint64_t bytes = pp_ulcp_contending(a, b);
	uint64_t updates = a->read & a->written & b->read & b->written;

	conflict->conflicts |= pp_access_conflicting(a, b) != 0;
	conflict->contends |= bytes != 0;
	conflict->updates |= (bytes & updates) != 0;
	conflict->first_only_reads |= (bytes & ~a->written) != 0;
	conflict->second_only_reads |= (bytes & ~b->written) != 0;
	conflict->writes |= (bytes & a->written & b->written & ~updates) != 0;
}

struct pp_ulcp_conflict pp_ulcp_compare(const struct pp_access_set *a,
					const struct pp_access_set *b)
{
	struct pp_ulcp_conflict conflict = {0};
	unsigned i = 0, k = 0;

	while (pp_access_sets_meet(a, b, &i, &k))
		compare_lines(&conflict, &a->lines[i++], &b->lines[k++]);
	return conflict;
}

enum pp_ulcp_class pp_ulcp_class_of_conflict(const struct pp_ulcp_conflict *conflict,
					     bool first_polls, bool second_polls)
{
	if (!conflict->contends)
		return PP_ULCP_BENIGN;
	if (conflict->writes || (conflict->first_only_reads && !first_polls) ||
	    (conflict->second_only_reads && !second_polls))
		return PP_ULCP_TRUE;
	return PP_ULCP_UNDECIDED;
}
