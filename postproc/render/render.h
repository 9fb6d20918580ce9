/* SPDX-License-Identifier: MIT */
/*
 * Tables as text for people, as JSON for programs, as CSV for spreadsheets and SQL.  All go to
 * memory; a long JSON document in parts, from tables that are complete.
 */
#ifndef PP_RENDER_RENDER_H
#define PP_RENDER_RENDER_H

#include "table/table.h"

/* Aligned columns under a title; `colour`: the reader is a terminal that wants it. */
void pp_render_text(GString *to, const struct pp_table *table, bool colour);

/*
 * {"schema": 1, KEY: [ROW, ...], ..., "notes": [{"section": KEY, "note": TEXT}, ...]}, one member
 * for each table, missing cells null, ended by a newline.
 */
void pp_render_json(GString *to, struct pp_table *const *tables, unsigned n_tables);

/*
 * The same in parts of 1 MiB or more: `take` takes each from `to` and empties it, or returns false
 * if no more is wanted.  The last part is left in `to`.
 */
void pp_render_json_parts(GString *to, struct pp_table *const *tables, unsigned n_tables,
			  bool (*take)(void *data, GString *part), void *data);

/* One row as an object on one line: for documents too long to be built in memory. */
void pp_render_json_row(GString *to, const struct pp_table *table, unsigned at);

/*
 * The JSON keys on one line; then each row on one, with the values that JSON has: text quoted,
 * other cells not, missing ones empty.  Nested tables are left out: table/flat.h.
 */
void pp_render_csv_head(GString *to, const struct pp_table *table);
void pp_render_csv_rows(GString *to, const struct pp_table *table);

#endif
