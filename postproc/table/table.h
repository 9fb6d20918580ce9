/* SPDX-License-Identifier: MIT */
/*
 * Results are tables: typed columns with units, rows of cells.  One description of the columns
 * drives text, JSON and whatever comes later.
 *
 * A cell may be missing (a figure that could not be measured); a table may carry notes saying why.
 * Text shows "-", JSON null, CSV nothing.
 */
#ifndef PP_TABLE_TABLE_H
#define PP_TABLE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

enum pp_type {
	PP_TYPE_TEXT,
	PP_TYPE_COUNT,	 /* uint64_t */
	PP_TYPE_INTEGER, /* int64_t */
	PP_TYPE_TIME_NS, /* int64_t duration or instant; text scales the unit */
	PP_TYPE_SECONDS, /* double */
	PP_TYPE_PERCENT, /* double, 0..100 */
	PP_TYPE_RATIO,	 /* double */
	PP_TYPE_ADDRESS, /* uint64_t; text and JSON as "0x..." */
	PP_TYPE_BOOL,
	PP_TYPE_TABLE, /* nested rows: JSON array; text leaves it out */
};

/* What is neither KEY nor ID and a number is a figure. */
enum pp_column_flags {
	PP_COLUMN_JSON_ONLY = 1,
	PP_COLUMN_TEXT_ONLY = 2,
	PP_COLUMN_KEY = 4, /* names the row, in another run as well: a function, a site */
	PP_COLUMN_ID = 8,  /* tells the row from others of its run: a tid, an address, an instant */
	/*
	 * How two runs are compared (table/diff.h): by which figure first; and what the figure
	 * of rows is that are taken together, if it is not the sum.
	 */
	PP_COLUMN_MAIN = 16,
	PP_COLUMN_MAX = 32,    /* the largest */
	PP_COLUMN_NO_SUM = 64, /* not known: a mean, a percentile; so are percentages and ratios */
	/* In text. */
	PP_COLUMN_SIGNED = 128, /* with a plus, if it is positive */
	PP_COLUMN_RIGHT = 256,	/* text that ends on the right */
	/* Of nested tables: another one has the same rows, and the rest. */
	PP_COLUMN_EXCERPT = 512,
};

struct pp_column {
	const char *key;   /* JSON member, documented, never renamed: "wait_ns" */
	const char *title; /* text heading: "wait" */
	enum pp_type type;
	unsigned flags;
	const char *help; /* one line: what it means */
	/* PP_TYPE_TABLE: the columns of what is nested there, rows or no rows. */
	const struct pp_column *nested;
	unsigned n_nested;
};

struct pp_table;

struct pp_cell {
	bool missing;
	union {
		char *text; /* owned */
		uint64_t count;
		int64_t integer;
		int64_t time_ns;
		double number;
		bool truth;
		struct pp_table *table; /* owned */
	};
};

struct pp_table {
	const char *key; /* JSON member that holds the rows: "threads" */
	const char *title;
	const struct pp_column *columns;
	unsigned n_columns;
	GPtrArray *rows;  /* of struct pp_cell[n_columns] */
	GPtrArray *notes; /* of char *: what could not be measured, and why */
	char *text; /* owned; laid out by the pass: text output shows it instead of the rows */
	bool is_for_text;      /* what it says, other tables have for programs */
	bool is_for_programs;  /* ... for people */
	bool is_excerpt;       /* another table has the same rows, and the rest */
	unsigned text_rows;    /* text shows the first so many of a long table; 0: all */
	unsigned n_left_out;   /* ... and so many rows were not made, since only text is wanted */
	bool is_view;	       /* the cells are another table's, which has to outlive it */
	unsigned n_parents;    /* so many columns, the first, name the rows that it was nested in */
	GArray *own_columns;   /* of struct pp_column: where `columns` are its own; NULL */
	GStringChunk *strings; /* ... with what they, key and title point to; NULL */
};

struct pp_table *pp_table_new(const char *key, const char *title, const struct pp_column *columns,
			      unsigned n_columns);
/* To be set in a cell of that column, with the key, title and columns that it says. */
struct pp_table *pp_table_new_nested(const struct pp_column *column);
/* The same of columns made for it; takes both, and copies key and title into `strings`. */
struct pp_table *pp_table_new_own(const char *key, const char *title, GArray *columns,
				  GStringChunk *strings);
void pp_table_free(struct pp_table *table);

/* A cell of a column like that, as people read it: "-" if it is missing.  The caller frees it. */
char *pp_cell_text(const struct pp_cell *cell, const struct pp_column *column);

/* A new row, all cells missing until set. */
struct pp_cell *pp_table_add_row(struct pp_table *table);
void pp_table_remove_row(struct pp_table *table, unsigned at);

/* Position of the column with that key; -1: none. */
int pp_table_column(const struct pp_table *table, const char *key);

/* That cell of a row; NULL: no such table or column, or the cell is missing. */
const struct pp_cell *pp_table_cell(const struct pp_table *table, unsigned row, const char *key);
void pp_table_note(struct pp_table *table, const char *format, ...) G_GNUC_PRINTF(2, 3);

void pp_cell_set_text(struct pp_cell *cell, const char *text); /* copies; NULL: missing */
void pp_cell_set_count(struct pp_cell *cell, uint64_t count);
void pp_cell_set_integer(struct pp_cell *cell, int64_t integer);
void pp_cell_set_time(struct pp_cell *cell, int64_t time_ns);
void pp_cell_set_number(struct pp_cell *cell, double number);
void pp_cell_set_bool(struct pp_cell *cell, bool truth);
void pp_cell_set_table(struct pp_cell *cell, struct pp_table *table); /* takes it */

#endif
