/* SPDX-License-Identifier: MIT */
/* Sets of accesses as text: "0x1000+8,0x1040+4" are the bytes from 0x1000 to 0x1007, and others. */
#ifndef PP_TESTS_ACCESS_TEXT_H
#define PP_TESTS_ACCESS_TEXT_H

#include <glib.h>

#include "core/access_set.h"

/*
 * Returns a new reference to the set of these bytes read, written and changed; NULL: no bytes, for
 * `changed` all written ones.  The site is that of all accesses.  NULL: the text is malformed.
 */
struct pp_access_set *pp_access_text_set(struct pp_access_sets *sets, const char *read,
					 const char *written, const char *changed, uint64_t site);

/*
 * Returns the order of these accesses, of which each range is one: those of `read`, then those of
 * `written`.  An array of struct pp_access_order, which the caller unrefs.
 */
GArray *pp_access_text_order(const char *read, const char *written);

/* The number of ranges. */
unsigned pp_access_text_count(const char *ranges);

#endif
