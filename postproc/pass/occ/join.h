/* SPDX-License-Identifier: MIT */
/*
 * Joins the critical sections of two captures: a statically allocated lock by its place in the file
 * that contains it, dynamically allocated ones by the call sites that acquire them.
 */
#ifndef PP_PASS_OCC_JOIN_H
#define PP_PASS_OCC_JOIN_H

#include "core/error.h"
#include "table/table.h"

/* Rows of both tables that are one section. */
struct pp_occ_joined {
	GArray *timing, *accesses; /* of guint: rows; either may be empty */
};

struct pp_occ_join {
	const struct pp_table *timing, *accesses; /* tables "occ_timing" and "occ_accesses" */
	bool by_name; /* names of variables and call sites tell what is the same */
};

/*
 * An array of struct pp_occ_joined *, in the order of the first table, then those of the second one
 * only.  The caller unrefs it.
 */
GPtrArray *pp_occ_join(const struct pp_occ_join *join);

/*
 * Checks that no section of one capture is in another build of a file than one of the other:
 * -EINVAL.
 */
int pp_occ_check_builds(const struct pp_occ_join *join, struct pp_error *err);

#endif
