/* SPDX-License-Identifier: MIT */
/*
 * Items of one size, which are read in the order in which they were added.  Those that do not fit
 * into a buffer are in an unnamed temporary file, so memory does not grow with them.
 */
#ifndef PP_CORE_ITEM_FILE_H
#define PP_CORE_ITEM_FILE_H

#include <stddef.h>

#include "core/error.h"

struct pp_item_file;

struct pp_item_file *pp_item_file_new(size_t item_bytes);
void pp_item_file_free(struct pp_item_file *file);

/* Copies the item.  A failed write is reported by pp_item_file_finish(). */
void pp_item_file_add(struct pp_item_file *file, const void *item);

/* To be called after the last item is added.  Returns 0 or -errno. */
int pp_item_file_finish(struct pp_item_file *file, struct pp_error *err);

/* The next item, valid until the next call; NULL: none is left, or the file failed. */
const void *pp_item_file_next(struct pp_item_file *file);

/* To be called after the last item is read.  Returns 0 or -errno. */
int pp_item_file_check(const struct pp_item_file *file, struct pp_error *err);

#endif
