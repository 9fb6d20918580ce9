/* SPDX-License-Identifier: MIT */
/*
 * Results are tables: typed columns with units, and rows of cells.  One definition of the columns
 * drives all output formats.
 *
 * A missing cell stands for a figure that could not be measured; notes of the table give the
 * reason.  It is "-" in text, null in JSON, and empty in CSV.
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
	PP_TYPE_TIME_NS, /* int64_t duration or time; text scales the unit */
	PP_TYPE_SECONDS, /* double */
	PP_TYPE_PERCENT, /* double, 0..100 */
	PP_TYPE_RATIO,	 /* double */
	PP_TYPE_ADDRESS, /* uint64_t; text and JSON as "0x..." */
	PP_TYPE_BOOL,
	PP_TYPE_TABLE, /* nested rows: an array in JSON; omitted in text */
};

/* Numbers that are neither KEY nor ID are figures. */
enum pp_column_flags {
	PP_COLUMN_JSON_ONLY = 1,
	PP_COLUMN_TEXT_ONLY = 2,
	PP_COLUMN_KEY = 4, /* identifies the row, also in another run: a function, a call site */
	PP_COLUMN_ID = 8,  /* identifies the row in its run: a tid, an address, a time */
	/*
	 * MAIN is the figure to sort by when two runs are compared; the others define how rows are
	 * combined (table/diff.h, table/group.h) if not by their sum.
	 */
	PP_COLUMN_MAIN = 16,
	PP_COLUMN_MAX = 32, /* by the maximum */
	/* not at all: a mean, a percentile; implied for percentages and ratios */
	PP_COLUMN_NO_SUM = 64,
	/* Text output. */
	PP_COLUMN_SIGNED = 128, /* a plus sign before positive numbers */
	PP_COLUMN_RIGHT = 256,	/* right-aligned text */
	/* For nested tables: another table has the same rows and more. */
	PP_COLUMN_EXCERPT = 512,
	PP_COLUMN_PATH = 1024, /* text that is cut at its end, not in the middle */
	/*
	 * Text that is too wide for a terminal leaves columns out: first those without any value,
	 * then DETAIL, those without such a flag, REPEATED (identifies the row, as another column
	 * does), MORE, and of these the rightmost first.  KEY, ID, the main figure and STAYS stay.
	 */
	PP_COLUMN_DETAIL = 2048,
	PP_COLUMN_REPEATED = 4096,
	PP_COLUMN_MORE = 8192,
	PP_COLUMN_STAYS = 16384,
	/* table/group.h: the group of the row's thread, and what tells the threads of a group apart
	 */
	PP_COLUMN_GROUP = 32768,
	PP_COLUMN_THREAD = 65536,
	/* Shares of the same whole, which can be added up. */
	PP_COLUMN_SHARE = 131072,
	/* table/top.h: the figure by which the first rows are chosen, if rows are not sorted by it
	 */
	PP_COLUMN_RANK = 262144,
	/* A part of MAIN that does not count for the order of two runs' rows: idle waits. */
	PP_COLUMN_UNRANKED = 524288,
	/* For counts: JSON_ONLY, but also in text if the rows have several values: pids. */
	PP_COLUMN_IF_SEVERAL = 1048576,
};

struct pp_column {
	const char *key;   /* JSON key, documented and never renamed: "wait_ns" */
	const char *title; /* heading in text: "wait" */
	enum pp_type type;
	unsigned flags;
	const char *help; /* its meaning, in one line */
	/* PP_TYPE_TABLE: the columns of the nested tables, also if there are none. */
	const struct pp_column *nested;
	unsigned n_nested;
	/* A ratio that is combined to its mean, weighted by the column with this key; NULL: none.
	 */
	const char *mean_over;
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
	const char *key; /* JSON key of the array of rows: "threads" */
	const char *title;
	const struct pp_column *columns;
	unsigned n_columns;
	GPtrArray *rows;  /* of struct pp_cell[n_columns] */
	GPtrArray *notes; /* of char *: reasons for missing figures */
	char *text; /* owned; a text laid out by the pass, which replaces the rows in text output */
	bool is_for_text;      /* for text only: other tables have the same information */
	bool is_for_programs;  /* not for text, for the same reason */
	bool is_excerpt;       /* another table has the same rows and more */
	bool is_in_order;      /* rows are in order of time: they are neither grouped nor sorted */
	unsigned text_rows;    /* text shows this number of rows; 0: all */
	unsigned n_left_out;   /* ... and this number was not created, since only text is wanted */
	bool is_view;	       /* the cells belong to another table, which must outlive it */
	unsigned n_parents;    /* number of leading columns that identify the outer rows */
	GArray *own_columns;   /* of struct pp_column: `columns`, if the table owns them; NULL */
	GStringChunk *strings; /* ... with their strings, and key and title; NULL */
};

struct pp_table *pp_table_new(const char *key, const char *title, const struct pp_column *columns,
			      unsigned n_columns);
/* A table for a cell of that column, with the column's key, title and nested columns. */
struct pp_table *pp_table_new_nested(const struct pp_column *column);
/*
 * A table with columns of its own.  Takes ownership of both arguments, and copies key and title
 * into `strings`.
 */
struct pp_table *pp_table_new_own(const char *key, const char *title, GArray *columns,
				  GStringChunk *strings);
void pp_table_free(struct pp_table *table);

/* The cell as text in the column's format; "-" if missing.  The caller frees it. */
char *pp_cell_text(const struct pp_cell *cell, const struct pp_column *column);

/* Adds a row whose cells are all missing. */
struct pp_cell *pp_table_add_row(struct pp_table *table);
void pp_table_remove_row(struct pp_table *table, unsigned at);

/*
 * The position of the figure to sort by: the main one if any row has it, else the first figure that
 * one has; n_columns if there is none.
 */
unsigned pp_table_main_column(const struct pp_table *table);

/* Tells for each column if text shows it; the caller frees the array. */
bool *pp_table_columns_in_text(const struct pp_table *table);

/* True for numbers that are neither key nor id. */
bool pp_column_is_figure(const struct pp_column *column);

/* The value of a figure that is not missing. */
double pp_cell_number(const struct pp_cell *cell, enum pp_type type);

/*
 * Adds the figure to `sum`, or takes the larger one, as the column defines.  Returns false if its
 * figures cannot be combined.
 */
bool pp_cell_combine(struct pp_cell *sum, const struct pp_cell *cell,
		     const struct pp_column *column);

/* The position of the column with that key; -1 if there is none. */
int pp_table_column(const struct pp_table *table, const char *key);

/* A cell of a row; NULL if there is no such table or column, or the cell is missing. */
const struct pp_cell *pp_table_cell(const struct pp_table *table, unsigned row, const char *key);

/* Its value; 0 if there is none. */
uint64_t pp_table_count(const struct pp_table *table, unsigned row, const char *key);
int64_t pp_table_time_ns(const struct pp_table *table, unsigned row, const char *key);

void pp_table_note(struct pp_table *table, const char *format, ...) G_GNUC_PRINTF(2, 3);

void pp_cell_set_text(struct pp_cell *cell, const char *text); /* copies the text; NULL: missing */
void pp_cell_set_count(struct pp_cell *cell, uint64_t count);
void pp_cell_set_integer(struct pp_cell *cell, int64_t integer);
void pp_cell_set_time(struct pp_cell *cell, int64_t time_ns);
void pp_cell_set_number(struct pp_cell *cell, double number);
void pp_cell_set_bool(struct pp_cell *cell, bool truth);
void pp_cell_set_table(struct pp_cell *cell, struct pp_table *table); /* takes ownership */

#endif
