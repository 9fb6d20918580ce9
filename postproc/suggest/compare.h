/* SPDX-License-Identifier: MIT */
/*
 * The runs of a changed program beside those of the program before: the suggestions that were
 * followed, and the conflicts that are new.
 *
 * A change moves lines and may replace locks, so that call sites are compared by their functions.
 */
#ifndef PP_SUGGEST_COMPARE_H
#define PP_SUGGEST_COMPARE_H

#include "suggest/apart.h"
#include "suggest/patterns.h"

struct pp_suggest_new_conflict {
	const struct pp_suggest_lock *lock; /* of the changed program */
	uint32_t a, b;			    /* its sites */
};

/*
 * Returns the pairs of sites (of struct pp_suggest_new_conflict) whose sections access bytes that
 * one of them writes, in different threads, though before no sections of the same functions did.
 * *ret_n_unknown: pairs that are left out, as accesses before were not known.  The caller unrefs
 * the array.
 */
GArray *pp_suggest_new_conflicts(const struct pp_suggest_facts *before,
				 const struct pp_suggest_facts *after, unsigned *ret_n_unknown);

/*
 * Returns the conflicts without a common lock (struct pp_suggest_apart *, which belong to `after`)
 * of functions that had none before, by their names.  The arguments are of pp_suggest_aparts_new().
 * The caller unrefs the array.
 */
GPtrArray *pp_suggest_new_aparts(GHashTable *before, GHashTable *after);

/* The lock of that name; NULL: there is none. */
const struct pp_suggest_lock *pp_suggest_lock_named(const struct pp_suggest_facts *facts,
						    const char *name);

/* The suggestion of that pattern for the lock of that name; NULL: there is none. */
const struct pp_suggestion *pp_suggest_same(const GPtrArray *suggestions,
					    const struct pp_suggestion *suggestion);

#endif
