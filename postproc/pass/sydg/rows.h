/* SPDX-License-Identifier: MIT */
/*
 * Critical sections in words: a row is all sections of a process that read alike, with the same
 * functions and lines at both ends and on the path.  If the path of some instances was not
 * recorded, it is one row for all paths.
 */
#ifndef PP_PASS_SYDG_ROWS_H
#define PP_PASS_SYDG_ROWS_H

#include "analysis/dependence/dependence.h"

struct pp_sydg_row {
	const struct pp_process *process;
	const char *entry, *exit; /* NULL: not known */
	char *path;
	const struct pp_object *object; /* with most of the waits; NULL: none */
	int64_t object_ns, path_ns, aplt_ns;
	uint64_t n_objects, n_paths;
	bool has_pathless;
	uint64_t n;
	int64_t hold_ns;
	struct pp_dependence_cost all_paths, critical_path;
	const char *key; /* unique */
	/* rows.c: */
	const struct pp_object *first; /* the first object, and its part */
	int64_t first_ns;
	GHashTable *parts; /* the other objects -> int64_t *: their parts; NULL: none */
};

struct pp_sydg_rows;

/* After the end of `dependence`. */
struct pp_sydg_rows *pp_sydg_rows_new(const struct pp_pass_context *context,
				      const struct pp_dependence *dependence,
				      enum pp_dependence_clock clock);
void pp_sydg_rows_free(struct pp_sydg_rows *rows);

/* A section that had no instance; before any row is asked for. */
void pp_sydg_rows_name(struct pp_sydg_rows *rows, const struct pp_section *section);

/* Makes the rows of all sections of selected objects. */
void pp_sydg_rows_fill(struct pp_sydg_rows *rows, const struct pp_dependence *dependence);

/* The row of a section, made if there is none. */
struct pp_sydg_row *pp_sydg_row_of(struct pp_sydg_rows *rows, const struct pp_section *section);

/* Orders rows by APWT (wall time), then by hold time. */
int pp_sydg_row_compare(const struct pp_sydg_row *x, const struct pp_sydg_row *y);

/* An array of struct pp_sydg_row *, in no order.  The caller unrefs it. */
GPtrArray *pp_sydg_rows_all(const struct pp_sydg_rows *rows);

#endif
