/* SPDX-License-Identifier: MIT */
/*
 * Tables as text, JSON and CSV.  All output goes to memory; a long JSON document can be written in
 * parts.
 */
#ifndef PP_RENDER_RENDER_H
#define PP_RENDER_RENDER_H

#include "core/text/json_writer.h"
#include "table/table.h"

struct pp_text_style {
	bool colour;	/* use terminal colors */
	unsigned width; /* of a line, in characters; 0: no limit */
	/* A line names the columns that did not fit; the caller says it only once if not. */
	bool omits_silently;
};

/*
 * Aligned columns under a title.  If they are too wide, long texts are cut in the middle, and
 * columns are left out (table/table.h).  Notes and texts of passes are wrapped.
 */
void pp_render_text(GString *to, const struct pp_table *table, const struct pp_text_style *style);

/*
 * {"schema": 1, KEY: [ROW, ...], ..., "notes": [{"section": KEY, "note": TEXT}, ...]}, with one
 * member per table.  Missing cells are null.  Ends with a newline.
 */
void pp_render_json(GString *to, struct pp_table *const *tables, unsigned n_tables);

/*
 * The same in parts of at least 1 MiB: `take` consumes `to` and empties it, or returns false to
 * stop.  The last part is left in `to`.
 */
void pp_render_json_parts(GString *to, struct pp_table *const *tables, unsigned n_tables,
			  bool (*take)(void *data, GString *part), void *data);

/*
 * The same as a member of another document, with text that is safe to show (core/text/printable.h).
 */
void pp_render_json_member(struct pp_json_writer *writer, const char *key,
			   struct pp_table *const *tables, unsigned n_tables);

/* A row as an object in one line, for documents that do not fit into memory. */
void pp_render_json_row(GString *to, const struct pp_table *table, unsigned at);

/*
 * A line of keys, the same as in JSON, and a line per row.  Text is quoted, other values are not;
 * missing ones are empty.  Nested tables are omitted (see table/flat.h).
 */
void pp_render_csv_head(GString *to, const struct pp_table *table);
void pp_render_csv_rows(GString *to, const struct pp_table *table);

#endif
