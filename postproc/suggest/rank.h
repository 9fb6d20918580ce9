/* SPDX-License-Identifier: MIT */
/* The suggestions that are worth following, by their gain. */
#ifndef PP_SUGGEST_RANK_H
#define PP_SUGGEST_RANK_H

#include "suggest/patterns.h"

/* A gain below this is none: in percent of the run time. */
#define PP_SUGGEST_LEAST_PCT 1.0

/*
 * Returns the suggestions whose change would shorten the run by more than its error, or whose gain
 * is not known, those with the largest gain first.  *ret_n_idle: the number of the others.  The
 * caller unrefs the array; the suggestions belong to `all`.
 */
GPtrArray *pp_suggest_rank(const GPtrArray *all, unsigned *ret_n_idle);

#endif
