/* SPDX-License-Identifier: MIT */
/*
 * Results of replays in the other order: of pairs of calls that enter critical sections, whose
 * order accesses alone do not decide.
 */
#ifndef PP_CORE_REVERSALS_H
#define PP_CORE_REVERSALS_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

struct pp_reversal {
	char *first, *second; /* names of the calls, in the order of strcmp() */
	bool is_benign;	      /* the order does not matter; else it does */
	uint64_t n_samples;   /* pairs of sections that were executed in both orders */
	uint64_t n_runs;      /* of each of them, in each order */
};

struct pp_reversals {
	GPtrArray *all; /* of struct pp_reversal * */
	char *refused;	/* why the stored results are not used; NULL: they are */
};

struct pp_reversals *pp_reversals_new(void);
void pp_reversals_free(struct pp_reversals *reversals); /* NULL: nothing */

void pp_reversals_add(struct pp_reversals *reversals, const char *first, const char *second,
		      const struct pp_reversal *result);

/* The result of two calls, in either order; NULL: none.  reversals: NULL: there are none. */
const struct pp_reversal *pp_reversals_find(const struct pp_reversals *reversals, const char *first,
					    const char *second);

#endif
