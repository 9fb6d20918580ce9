/* SPDX-License-Identifier: MIT */
/* Joins the accesses of one run with the sections of another run of the same program. */
#ifndef PP_CLI_ULCP_JOIN_H
#define PP_CLI_ULCP_JOIN_H

#include "core/error.h"
#include "replay/units.h"

/*
 * Returns the sets (of struct pp_replay_set) with the numbers of `timing`: the k-th acquisition of
 * a thread has the accesses of the k-th one of the same thread in the other run. Both must be at
 * call sites with one name, in all threads. Returns NULL if they are not, with an error that names
 * the first difference. The caller unrefs the array.
 */
GArray *pp_cli_ulcp_join(const struct pp_replay_model *timing,
			 const struct pp_replay_model *accesses, const GArray *sets,
			 struct pp_error *err);

#endif
