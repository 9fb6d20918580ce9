/* SPDX-License-Identifier: MIT */
/*
 * Counts of what happened between two nodes of a graph, by a key of sites, objects and threads: one
 * entry per combination.
 *
 * 1,000 threads have a million pairs.  Beyond PP_LINKS_MAX entries, new combinations are counted in
 * total only, and a note says so.
 */
#ifndef PP_ANALYSIS_GRAPH_LINKS_H
#define PP_ANALYSIS_GRAPH_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "table/table.h"

#define PP_LINKS_MAX  500000u
#define PP_LINK_PARTS 4
#define PP_LINK_NONE  UINT32_MAX /* no number */

struct pp_link {
	uint32_t from, to, parts[PP_LINK_PARTS]; /* the key; the caller defines the parts */
	uint64_t count;
	int64_t sum_ns, max_ns;
	int64_t first_ns, last_ns; /* first and last time, if the keys contain both */
};

struct pp_links {
	GHashTable *all; /* a set of struct pp_link * */
	uint64_t beyond_count;
	int64_t beyond_ns;
};

/*
 * A hash of a g_int64 key made of two small numbers. g_int64_hash() XORs the halves, and would have
 * a few thousand values for a million pairs.
 */
guint pp_pair_hash(gconstpointer key);

void pp_links_init(struct pp_links *links);
void pp_links_done(struct pp_links *links);

/* Counts one more occurrence, which took `ns`.  Returns false if it is beyond the limit. */
bool pp_links_add(struct pp_links *links, const struct pp_link *key, int64_t ns);

/* True if occurrences of new combinations are beyond the limit. */
bool pp_links_are_full(const struct pp_links *links);

/* An array of const struct pp_link *, sorted by from, to and parts.  The caller unrefs it. */
GPtrArray *pp_links_sorted(const struct pp_links *links);

/* Adds a note about entries beyond the limit. counted: "waits". */
void pp_links_note(const struct pp_links *links, struct pp_table *table, const char *counted);

#endif
