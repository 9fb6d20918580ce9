/* SPDX-License-Identifier: MIT */
/*
 * Equal instances of critical sections: of one user, in one thread, with one set of accesses.  They
 * are counted until the table is full, so that a set that repeats costs a look-up.
 */
#ifndef PP_ANALYSIS_ACCESSES_COUNTED_H
#define PP_ANALYSIS_ACCESSES_COUNTED_H

#include <stdbool.h>
#include <stdint.h>

#include "core/access_set.h"

struct pp_location_user;
struct pp_thread;

struct pp_counted {
	struct pp_location_user *user; /* a reference */
	const struct pp_thread *thread;
	struct pp_access_set *set; /* a reference */
	uint32_t n;		   /* instances, at least 1 */
};

struct pp_counted_table;

struct pp_counted_table *pp_counted_new(void);
void pp_counted_free(struct pp_counted_table *table);

/* Counts an instance.  Returns false if there is no room: the table has to be cleared first. */
bool pp_counted_add(struct pp_counted_table *table, struct pp_location_user *user,
		    const struct pp_thread *thread, struct pp_access_set *set);

/* Returns the entries, of which there are *ret_n, in order of their first instances. */
const struct pp_counted *pp_counted_entries(const struct pp_counted_table *table, unsigned *ret_n);

void pp_counted_clear(struct pp_counted_table *table);

#endif
