/* SPDX-License-Identifier: MIT */
/* The synchronization objects that threads waited for most: what a person should look at first. */
#ifndef PP_PASS_TOP_H
#define PP_PASS_TOP_H

#include "core/table.h"

/* Up to n_rows objects of the table of pass locks (NULL: no rows) that anybody waited for. */
struct pp_table *pp_top_new(const struct pp_table *locks, unsigned n_rows);

/* A row of it in words: "1.2 s for forks (sem), in 20 of 100 operations, mostly at ..., held since
 * ...". */
char *pp_top_text(const struct pp_table *top, unsigned at);

#endif
