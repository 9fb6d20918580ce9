/* SPDX-License-Identifier: MIT */
/* A set of numbered address ranges, to find the innermost one that contains an address. */
#ifndef PP_SYMBOLS_RANGES_H
#define PP_SYMBOLS_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

struct pp_ranges {
	GArray *all;
};

void pp_ranges_init(struct pp_ranges *ranges);
void pp_ranges_done(struct pp_ranges *ranges);

/* Adds the range [start, end); an empty one is ignored. */
void pp_ranges_add(struct pp_ranges *ranges, uint64_t start, uint64_t end, uint32_t number);

/* To be called after the last pp_ranges_add() and before the first pp_ranges_find(). */
void pp_ranges_sort(struct pp_ranges *ranges);

/*
 * Finds the innermost range; of equal ones, the lowest number.  Returns false if none contains the
 * address.
 */
bool pp_ranges_find(const struct pp_ranges *ranges, uint64_t address, uint32_t *ret_number);

#endif
