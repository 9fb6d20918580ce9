/* SPDX-License-Identifier: MIT */
/* Notes about synchronization that was not recorded, by configuration or to limit the cost. */
#ifndef PP_ANALYSIS_UNRECORDED_H
#define PP_ANALYSIS_UNRECORDED_H

#include "core/model.h"
#include "table/table.h"

/*
 * Adds these notes: operations missing in the table are not zeros.  Passes do not call this for
 * their tables: struct pp_pass, has_operations.
 */
void pp_unrecorded_note(struct pp_table *table, const struct pp_model *model);

/* Adds notes about blocking calls that are not recorded.  has_calls: the table has some. */
void pp_unrecorded_io_note(struct pp_table *table, const struct pp_model *model, bool has_calls);

/*
 * The recording mode of synchronization as text: the mode, in how many threads and since when not
 * all operations are recorded.  NULL if none are recorded.  The caller frees it.
 */
char *pp_unrecorded_mode(const struct pp_model *model, bool *ret_is_full);

#endif
