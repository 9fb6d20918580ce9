/* SPDX-License-Identifier: MIT */
/*
 * Figures by call site, of one object or one pair of threads: items that begin with their key, in
 * order of appearance.  There may be millions of objects with a site each, so a few are searched in
 * order, without a table; many are found by hash, so an object with 20,000 sites costs no more for
 * each operation than one with 20.
 */
#ifndef PP_ANALYSIS_SITE_SET_H
#define PP_ANALYSIS_SITE_SET_H

#include <stddef.h>
#include <stdint.h>

struct pp_site_key {
	uint64_t address; /* 0: not known */
	uint32_t op;	  /* enum st_event */
	uint32_t detail;  /* the pass's own */
};

/* All zero: empty. */
struct pp_site_set {
	void *items;
	uint32_t *slots; /* positions in items, + 1; NULL: few items */
	unsigned n, room;
};

/*
 * The item with that key, or a new one, all zero but for its key.  item_bytes: the same for each
 * call.  Valid until the next call.
 */
void *pp_site_set_get(struct pp_site_set *set, size_t item_bytes, const struct pp_site_key *key);

/* The items themselves must be done by then. */
void pp_site_set_done(struct pp_site_set *set);

/* Items may be sorted, once no more are added. */
#define PP_SITE_SET_AT(set, type, i) (&((type *)(set)->items)[i])

#endif
