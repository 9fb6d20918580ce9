/* SPDX-License-Identifier: MIT */
/*
 * What happened between two nodes of a graph, counted by what tells it apart (sites, objects,
 * threads): one entry for each combination, however often it came.
 *
 * Pairs of a thousand threads are a million: beyond PP_LINKS_MAX, what is new is only counted, and
 * said.
 */
#ifndef PP_ANALYSIS_GRAPH_LINKS_H
#define PP_ANALYSIS_GRAPH_LINKS_H

#include <stdint.h>

#include <glib.h>

#include "table/table.h"

#define PP_LINKS_MAX  500000u
#define PP_LINK_PARTS 4
#define PP_LINK_NONE  UINT32_MAX /* in place of a number */

struct pp_link {
	uint32_t from, to, parts[PP_LINK_PARTS]; /* the key; what they mean is the caller's */
	uint64_t count;
	int64_t sum_ns, max_ns;
	int64_t first_ns, last_ns; /* when it happened, if the keys say so in both */
};

struct pp_links {
	GHashTable *all; /* a set of struct pp_link * */
	uint64_t beyond_count;
	int64_t beyond_ns;
};

/*
 * Of a key as g_int64_equal() compares it, made of two small numbers: where g_int64_hash(), which
 * folds the halves together, has a few thousand values for a million pairs.
 */
guint pp_pair_hash(gconstpointer key);

void pp_links_init(struct pp_links *links);
void pp_links_done(struct pp_links *links);

/* It happened once more, and took that long. */
void pp_links_add(struct pp_links *links, const struct pp_link *key, int64_t ns);

/* Of const struct pp_link *, by from, to and parts; the caller unrefs it. */
GPtrArray *pp_links_sorted(const struct pp_links *links);

/* Notes what is beyond the limit: "waits". */
void pp_links_note(const struct pp_links *links, struct pp_table *table, const char *counted);

#endif
