/* SPDX-License-Identifier: MIT */
/* Ranges of addresses, each with a number: which is the innermost that holds an address? */
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

/* From `start` to before `end`; an empty one is left out. */
void pp_ranges_add(struct pp_ranges *ranges, uint64_t start, uint64_t end, uint32_t number);

/* After the last was added, and before the first is looked for. */
void pp_ranges_sort(struct pp_ranges *ranges);

/* Of equal ones, that of the least number.  False: none holds it. */
bool pp_ranges_find(const struct pp_ranges *ranges, uint64_t address, uint32_t *ret_number);

#endif
