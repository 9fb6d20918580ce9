/* SPDX-License-Identifier: MIT */
/* A cache of results by the serials of the two sets; both are in order of addresses. */
#include "analysis/accesses/overlap.h"

#define ENTRIES	   4096u /* a power of two */
#define KEPT_LINES 64u	 /* results with more lines are made again */

struct entry {
	uint64_t a, b; /* 0: empty */
	struct pp_overlap overlap;
	struct pp_overlap_line *lines; /* owned */
};

struct pp_overlaps {
	struct entry entries[ENTRIES];
	GArray *lines; /* of struct pp_overlap_line: of the last comparison */
	struct pp_overlap last;
};

struct pp_overlaps *pp_overlaps_new(void)
{
	struct pp_overlaps *overlaps = g_new0(struct pp_overlaps, 1);

	overlaps->lines = g_array_new(FALSE, FALSE, sizeof(struct pp_overlap_line));
	return overlaps;
}

void pp_overlaps_free(struct pp_overlaps *overlaps)
{
	for (unsigned i = 0; i < ENTRIES; i++)
		g_free(overlaps->entries[i].lines);
	g_array_unref(overlaps->lines);
	g_free(overlaps);
}

static void compare_lines(struct pp_overlaps *overlaps, const struct pp_access_line *a,
			  const struct pp_access_line *b)
{
	struct pp_overlap_line line = {
	    .address = a->address,
	    .bytes = pp_access_conflicting(a, b),
	};

	if (!a->written && !b->written)
		return;
	overlaps->last.has_lines = true;
	overlaps->last.has_bytes |= line.bytes != 0;
	g_array_append_val(overlaps->lines, line);
}

static void compare(struct pp_overlaps *overlaps, const struct pp_access_set *a,
		    const struct pp_access_set *b)
{
	unsigned i = 0, k = 0;

	g_array_set_size(overlaps->lines, 0);
	overlaps->last = (struct pp_overlap){0};
	while (pp_access_sets_meet(a, b, &i, &k))
		compare_lines(overlaps, &a->lines[i++], &b->lines[k++]);
	overlaps->last.n = overlaps->lines->len;
	overlaps->last.lines = (const struct pp_overlap_line *)overlaps->lines->data;
}

static struct entry *entry_of(struct pp_overlaps *overlaps, uint64_t a, uint64_t b)
{
	uint64_t hash = (a * UINT64_C(0x9e3779b97f4a7c15) ^ b) * UINT64_C(0xd6e8feb86659fd93);

	return &overlaps->entries[hash >> 32 & (ENTRIES - 1)];
}

const struct pp_overlap *pp_overlaps_get(struct pp_overlaps *overlaps,
					 const struct pp_access_set *a,
					 const struct pp_access_set *b)
{
	struct entry *entry = entry_of(overlaps, a->serial, b->serial);

	if (entry->a == a->serial && entry->b == b->serial)
		return &entry->overlap;
	compare(overlaps, a, b);
	if (overlaps->last.n > KEPT_LINES)
		return &overlaps->last;
	g_free(entry->lines);
	entry->a = a->serial;
	entry->b = b->serial;
	entry->overlap = overlaps->last;
	entry->lines =
	    g_memdup2(overlaps->lines->data, overlaps->lines->len * sizeof(struct pp_overlap_line));
	entry->overlap.lines = entry->lines;
	return &entry->overlap;
}
