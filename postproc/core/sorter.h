/* SPDX-License-Identifier: MIT */
/*
 * Sorts items that do not fit into memory: sorted runs of them go to an unnamed temporary file, and
 * are merged when they are read.  Memory depends on the size of a run, not on the number of items.
 */
#ifndef PP_CORE_SORTER_H
#define PP_CORE_SORTER_H

#include <stddef.h>

#include "core/error.h"

#define PP_SORTER_RUN_BYTES ((size_t)4 << 20)

struct pp_sorter;

/*
 * `compare` as for qsort(); it must distinguish all items.  run_bytes: memory for a run, of at
 * least one item.
 */
struct pp_sorter *pp_sorter_new(size_t item_bytes, int (*compare)(const void *a, const void *b),
				size_t run_bytes);
void pp_sorter_free(struct pp_sorter *sorter);

/* Copies the item.  A failed write is reported by the next function. */
void pp_sorter_add(struct pp_sorter *sorter, const void *item);

/* To be called after the last item is added, and before the first is read.  Returns 0 or -errno. */
int pp_sorter_finish(struct pp_sorter *sorter, struct pp_error *err);

/* The next item in order, valid until pp_sorter_pop(); NULL: none is left, or the file failed. */
const void *pp_sorter_peek(struct pp_sorter *sorter);
void pp_sorter_pop(struct pp_sorter *sorter);

/* To be called after the last item is read.  Returns 0 or -errno. */
int pp_sorter_check(const struct pp_sorter *sorter, struct pp_error *err);

#endif
