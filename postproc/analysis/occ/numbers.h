/* SPDX-License-Identifier: MIT */
/*
 * Positions by number: 0, 1, ... in the order in which the numbers of threads are seen.  Most locks
 * are used by a few threads, whose numbers are searched without a table.
 */
#ifndef PP_ANALYSIS_OCC_NUMBERS_H
#define PP_ANALYSIS_OCC_NUMBERS_H

#include <glib.h>

/* A zeroed one is empty. */
struct pp_occ_numbers {
	unsigned n, room;
	unsigned *numbers;
	GHashTable *position; /* number -> position, if they are many; NULL */
};

/* The position of the number: `n` before the call if it is new. */
unsigned pp_occ_numbers_get(struct pp_occ_numbers *numbers, unsigned number);
void pp_occ_numbers_done(struct pp_occ_numbers *numbers);

#endif
