/* SPDX-License-Identifier: MIT */
/*
 * Conflicts of critical sections that have no common lock: what remains if a lock was split, or
 * taken out, where it was needed.
 *
 * Two call sites are apart if no lock is ever held in sections of both.  Something else may order
 * their sections, as when a thread hands data over to another one, so that such a conflict is a
 * question to the developer.  Only variables are looked at: on the heap, memory that is freed and
 * allocated again would look like a conflict.
 */
#ifndef PP_SUGGEST_APART_H
#define PP_SUGGEST_APART_H

#include "suggest/facts.h"

struct pp_suggest_apart {
	char *sites[2], *locks[2]; /* names, by site */
	GHashTable *data;	   /* set of char *: the variables */
};

/* Returns a table of struct pp_suggest_apart *, for pp_suggest_apart_add().  The caller unrefs it.
 */
GHashTable *pp_suggest_aparts_new(void);

/* Adds the conflicts of a run; the arguments are those of pp_suggest_facts_add(). */
void pp_suggest_aparts_add(GHashTable *aparts, const struct pp_replay_model *model,
			   const GArray *sections, const GArray *sets,
			   const struct pp_suggest_namer *namer);

#endif
