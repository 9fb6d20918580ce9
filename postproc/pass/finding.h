/* SPDX-License-Identifier: MIT */
/* The leading cause of waits (analysis/blame/finding.h), as a table of one row, or none. */
#ifndef PP_PASS_FINDING_H
#define PP_PASS_FINDING_H

#include "table/table.h"

#define PP_N_FINDING_COLUMNS 26

/* A column that contains such a table. */
#define PP_FINDING_COLUMN                                                                          \
	{                                                                                          \
		"finding", "finding", PP_TYPE_TABLE, PP_COLUMN_EXCERPT,                            \
		    "the leading cause of waits, see blame; none: one thread, or no events",       \
		    pp_finding_columns, PP_N_FINDING_COLUMNS                                       \
	}

extern const struct pp_column pp_finding_columns[PP_N_FINDING_COLUMNS];

/* A copy of the table of pass finding, for such a column. */
struct pp_table *pp_finding_copy(const struct pp_table *finding);

/* "the lock is held too long: table.lock"; NULL: there is no finding.  The caller frees it. */
char *pp_finding_name(const struct pp_table *finding);

/*
 * "the lock is held too long: waits are ..., for what insert() does ..."; NULL as above.  The
 * caller frees it.
 */
char *pp_finding_line(const struct pp_table *finding);

/* The same in several lines of at most `width` characters; NULL: none. */
GStrv pp_finding_lines(const struct pp_table *finding, unsigned width);

#endif
