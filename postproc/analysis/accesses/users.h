/* SPDX-License-Identifier: MIT */
/*
 * Users of memory: critical sections, for which the locations that their instances access are
 * summed up (locations.h).
 */
#ifndef PP_ANALYSIS_ACCESSES_USERS_H
#define PP_ANALYSIS_ACCESSES_USERS_H

#include <stdint.h>

/* By whether they are written (1) or only read (0), and shared (1) or private (0). */
struct pp_location_sums {
	uint64_t locations[2][2], lines[2][2]; /* added up over all instances */
};

void pp_location_sums_add(struct pp_location_sums *to, const struct pp_location_sums *sums);

/* A critical section, for which locations are summed up. */
struct pp_location_user {
	struct pp_location_sums sums;
	void *owner;		       /* of the caller */
	struct pp_location_user *into; /* it was merged into that one; NULL: it was not */
	unsigned n_refs;
};

struct pp_location_user *pp_location_user_new(void *owner);
struct pp_location_user *pp_location_user_ref(struct pp_location_user *user);
void pp_location_user_unref(struct pp_location_user *user); /* NULL: nothing */

/* All that belongs to `from` belongs to `to` from now on. */
void pp_location_user_merge(struct pp_location_user *from, struct pp_location_user *to);

/* The one into which it was merged, or itself. */
struct pp_location_user *pp_location_user_of(struct pp_location_user *user);

#endif
