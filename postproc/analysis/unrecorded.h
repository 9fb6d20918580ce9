/* SPDX-License-Identifier: MIT */
/* What was switched off in the recording. */
#ifndef PP_ANALYSIS_UNRECORDED_H
#define PP_ANALYSIS_UNRECORDED_H

#include "core/model.h"
#include "table/table.h"

/* Notes it: what is not in the table is no zero. */
void pp_unrecorded_note(struct pp_table *table, const struct pp_model *model);

/*
 * How much of the synchronization was recorded, in words: by which mode, of how many threads and
 * since when not all.  NULL: none was.
 */
char *pp_unrecorded_mode(const struct pp_model *model, bool *ret_is_full);

#endif
