/* SPDX-License-Identifier: MIT */
/*
 * Figures by call site, for one object or one pair of threads.  Items begin with their key and are
 * in order of appearance.  Since there may be millions of objects with one site each, a few items
 * are searched linearly, without a table.  Larger sets use a hash table, so an operation on an
 * object with 20,000 sites costs no more than with 20.
 */
#ifndef PP_ANALYSIS_SITE_SET_H
#define PP_ANALYSIS_SITE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pp_site_key {
	uint64_t address; /* 0: not known */
	uint32_t op;	  /* enum st_event */
	uint32_t detail;  /* defined by the pass */
};

/* A zeroed set is empty. */
struct pp_site_set {
	void *items;
	uint32_t *slots; /* positions in items, plus 1; NULL: few items */
	unsigned n, room;
};

/*
 * Returns the item with that key, or a new zeroed item. item_bytes must be the same in each call.
 * The pointer is valid until the next call.
 */
void *pp_site_set_get(struct pp_site_set *set, size_t item_bytes, const struct pp_site_key *key);

/* The item with that key; NULL: none. */
void *pp_site_set_find(const struct pp_site_set *set, size_t item_bytes,
		       const struct pp_site_key *key);

/* Frees the set.  The caller must have released the items' contents. */
void pp_site_set_done(struct pp_site_set *set);

/* Items may be sorted when no more will be added. */
#define PP_SITE_SET_AT(set, type, i) (&((type *)(set)->items)[i])

#endif
