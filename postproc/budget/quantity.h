/* SPDX-License-Identifier: MIT */
/*
 * The quantities that a budget can bound: one figure of a report each, by name.
 *
 * A capture has the sum of the figure over all rows with the name of a lock, function or thread (or
 * its maximum, where that is the figure).  A name that the capture does not have is
 * PP_BUDGET_ABSENT, and a figure that was not recorded is PP_BUDGET_UNKNOWN, with the reason.
 */
#ifndef PP_BUDGET_QUANTITY_H
#define PP_BUDGET_QUANTITY_H

#include "table/table.h"

enum pp_budget_unit { PP_BUDGET_NS, PP_BUDGET_COUNT, PP_BUDGET_PERCENT };

/* The kind of names that the rows of a table have. */
enum pp_budget_name {
	PP_BUDGET_NO_NAME,
	PP_BUDGET_OBJECT, /* the variable, or the name of the object */
	PP_BUDGET_FUNCTION,
	PP_BUDGET_THREAD, /* the thread's name, or its start routine */
};

/* A table of a report, which that section has. */
struct pp_budget_table {
	const char *section, *key;
};

struct pp_budget_quantity {
	const char *words; /* "waits for" */
	enum pp_budget_name name;
	enum pp_budget_unit unit;
	struct pp_budget_table table;
	const char *column;
	const char *less;	      /* a column to be subtracted; NULL: none */
	const char *where, *is;	      /* only rows with this text in that column; NULL: all */
	struct pp_budget_table names; /* has a row for each name; no key: the table itself */
	/* An unsigned percentage is a share of the sum of this column; NULL: there is none. */
	struct pp_budget_table whole_table;
	const char *whole;
	bool whole_is_named; /* of the rows with the name */
	bool is_maximum;     /* of the rows, not their sum */
	const char *proof;   /* a column of `summary` that has a value if this was recorded; NULL */
	double scale;	     /* from the column to the unit; 0: 1 */
	const char *why;     /* the reason if there is no figure */
};

/* Ends with a quantity without words. */
extern const struct pp_budget_quantity pp_budget_quantities[];

enum pp_budget_known { PP_BUDGET_KNOWN, PP_BUDGET_ABSENT, PP_BUDGET_UNKNOWN };

struct pp_budget_value {
	enum pp_budget_known known;
	double value; /* in the unit */
	double share; /* in percent of the whole; 0 if the quantity has none */
	char *why;    /* PP_BUDGET_UNKNOWN: the reason; owned */
};

/*
 * Measures the quantity in the tables of one capture.  `name` may have the wildcards * and ?; a row
 * with exactly that name has precedence over them.
 */
void pp_budget_measure(const struct pp_budget_quantity *quantity, const char *name,
		       struct pp_table *const *tables, guint n_tables, struct pp_budget_value *ret);

/* "an object", "a function": what the name is of. */
const char *pp_budget_name_kind(enum pp_budget_name name);

#endif
