/* SPDX-License-Identifier: MIT */
/*
 * The time of all waits by what caused it (analysis/blame/blame.h), without the waiting calls.  The
 * sum is that of the waits in section `locks`.
 */
#ifndef PP_EXPORT_STACKS_BLAMED_H
#define PP_EXPORT_STACKS_BLAMED_H

#include "analysis/blame/blame.h"

struct pp_blamed {
	const struct pp_object *object;
	struct pp_blame_cause cause;
	bool is_idle; /* the part in waits that held nothing back */
	int64_t ns;
};

/*
 * All causes of waits for selected objects, longest first: of struct pp_blamed.  To be called after
 * the end.  The caller unrefs it.
 */
GArray *pp_blamed_causes(const struct pp_blame *blame, const struct pp_pass_context *context);

/* "holder", "caller", "hand-over", "unknown: it timed out", "idle".  The caller frees it. */
char *pp_blamed_kind(const struct pp_blamed *blamed);

/* True if a call is to blame; false: hand-over, or unknown. */
static inline bool pp_blamed_has_call(const struct pp_blamed *blamed)
{
	return blamed->cause.kind == PP_BLAME_HOLD || blamed->cause.kind == PP_BLAME_CALL;
}

/* The function of that call. */
const char *pp_blamed_function(const struct pp_blamed *blamed);

/*
 * "[hand-over]", "[unknown: it timed out]": the frame in place of a call.  The caller frees it.
 */
char *pp_blamed_frame(const struct pp_blamed *blamed);

#endif
