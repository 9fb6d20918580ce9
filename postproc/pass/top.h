/* SPDX-License-Identifier: MIT */
/* The synchronization objects with the longest total wait and spinning, as a starting point for the
 * reader. */
#ifndef PP_PASS_TOP_H
#define PP_PASS_TOP_H

#include "table/table.h"

#define PP_N_TOP_COLUMNS 13

/* A column that contains such a table. */
#define PP_TOP_COLUMN                                                                              \
	{                                                                                          \
		"top", "waited most", PP_TYPE_TABLE, PP_COLUMN_EXCERPT, "objects by wait time",    \
		    pp_top_columns, PP_N_TOP_COLUMNS                                               \
	}

extern const struct pp_column pp_top_columns[PP_N_TOP_COLUMNS];

/*
 * Up to n_rows objects of the table of pass locks that threads waited for, other than idly, or spun
 * on.  locks NULL: an empty table.
 */
struct pp_table *pp_top_new(const struct pp_table *locks, unsigned n_rows);

/* The positions of these rows in the table of pass locks.  Returns their number. */
unsigned pp_top_pick(const struct pp_table *locks, unsigned n_rows, guint *ret_rows);

/* Multiplies times and counts, if the table covers a part that stands for the whole. */
void pp_top_scale(struct pp_table *top, double factor);

/*
 * A row in words: "1.2 s for forks (sem), in 20 of 100 operations, mostly at ..., held since ...".
 * `error` follows the time: " (+- 5 %)", or nothing.  The caller frees it.
 */
char *pp_top_text(const struct pp_table *top, unsigned at, const char *error);

/*
 * The idle waits of the table of pass locks in words: "1.2 s for work, other threads and time;
 * longest 1.1 s for queue+88 (cond), mostly at ..."; NULL: there are none.  Times are multiplied by
 * the factor, as by pp_top_scale().  The caller frees it.
 */
char *pp_top_idle_text(const struct pp_table *locks, double factor);

/*
 * A row of the table of pass io in words: "1.2 s in 20 calls of read (fd 3), at serve (a.c:12)";
 * NULL: there is no such row, or it is idle.  `factor` as above.  The caller frees it.
 */
char *pp_top_io_text(const struct pp_table *io, unsigned at, double factor);

/* The idle calls of that table: "1.2 s in epoll_wait, 3 ms in nanosleep"; NULL: there are none. */
char *pp_top_io_idle_text(const struct pp_table *io, double factor);

#endif
