/* SPDX-License-Identifier: MIT */
/* Tables as text for people and as JSON for programs.  Both go to memory: nothing half is shown. */
#ifndef PP_RENDER_RENDER_H
#define PP_RENDER_RENDER_H

#include "core/table.h"

/* Aligned columns under a title; `colour`: the reader is a terminal that wants it. */
void pp_render_text(GString *to, const struct pp_table *table, bool colour);

/*
 * {"schema": 1, KEY: [ROW, ...], ..., "notes": [{"section": KEY, "note": TEXT}, ...]}, one member
 * for each table, missing cells null, ended by a newline.
 */
void pp_render_json(GString *to, struct pp_table *const *tables, unsigned n_tables);

/* One row as an object on one line: for documents too long to be built in memory. */
void pp_render_json_row(GString *to, const struct pp_table *table, unsigned at);

#endif
