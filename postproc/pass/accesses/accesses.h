/* SPDX-License-Identifier: MIT */
/*
 * The section `accesses` of the report: which memory each critical section accesses, by section
 * (the lock, and the call that acquired it) and by lock, the variables, and lines that are falsely
 * shared.  The files of this folder share these.
 */
#ifndef PP_PASS_ACCESSES_ACCESSES_H
#define PP_PASS_ACCESSES_ACCESSES_H

#include "analysis/accesses/locations.h"
#include "analysis/accesses/sections.h"
#include "analysis/pass.h"

/* Text shows only the first rows, since there may be thousands. */
#define PP_ACCESSES_TEXT_ROWS 30

/* The figures of the instances of a section, or of several. */
struct pp_access_figures {
	uint64_t n;			       /* instances */
	uint64_t known[PP_N_ACCESSES_KNOWN];   /* ... by what is known of their accesses */
	uint64_t reads, writes;		       /* of those that are known */
	uint64_t n_inexact, n_unmapped, n_cut; /* ... instances of which not all is known */
	uint64_t left_out;		       /* accesses */
};

/* The instances of a lock that are entered by one call. */
struct pp_access_part {
	const struct pp_process *process;
	enum st_event op;
	uint64_t site;
	struct pp_access_figures figures;
	struct pp_location_user *user; /* a reference */
};

/* The parts of a lock: the `data` of a struct pp_object. */
struct pp_access_lock {
	GPtrArray *parts; /* of struct pp_access_part * */
};

/* A section in words: all parts of a process that are entered at the same call. */
struct pp_access_row {
	const struct pp_process *process;
	char *entry;			/* NULL: not known */
	const struct pp_object *object; /* the lock with most of the instances */
	char *lock;			/* ... its name */
	uint64_t n_of_object, n_objects;
	struct pp_access_figures figures;
	struct pp_location_sums sums;
};

/* A location of a section. */
struct pp_accessed {
	struct pp_location_user *user; /* a reference */
	struct pp_memory_place place;
	uint64_t n_read, n_written; /* instances that only read it, and those that write it */
	uint64_t n_shared;	    /* ... in a life in which it is shared */
};

/* A line that is falsely shared. */
struct pp_false_line {
	struct pp_memory_place line;
	struct pp_line_side sides[2]; /* the users are references */
	unsigned n_threads;
	uint64_t n; /* instances that access it on both sides */
	bool is_contended;
};

struct pp_access_pass {
	const struct pp_pass_context *context;
	struct pp_access_listener listener;
	struct pp_locations_listener locations_listener;
	struct pp_access_sections *sections;
	struct pp_locations *locations;
	struct pp_location_user *unselected; /* all instances that are not selected */
	struct pp_access_figures all;
	GHashTable *accessed;	 /* a set of struct pp_accessed * */
	uint64_t n_not_listed;	 /* ... that do not fit there */
	GHashTable *false_lines; /* a set of struct pp_false_line * */
	GHashTable *rows;	 /* text -> struct pp_access_row *, at the end */
	GHashTable *row_of;	 /* part -> row */
};

/* rows.c */
void pp_access_figures_add(struct pp_access_figures *to, const struct pp_access_figures *figures);

static inline uint64_t pp_access_count(const struct pp_access_figures *figures)
{
	return figures->reads + figures->writes;
}

/* The number of instances whose accesses are known, at least 1. */
static inline double pp_access_n_known(const struct pp_access_figures *figures)
{
	return (double)MAX(figures->known[PP_ACCESSES_KNOWN], 1);
}

/* The row of a user; NULL: it is not selected. */
const struct pp_access_row *pp_access_row_of(const struct pp_access_pass *self,
					     struct pp_location_user *user);

/* Makes the rows. */
void pp_access_rows_make(struct pp_access_pass *self);

/* An array of struct pp_access_row *, those with most accesses first.  The caller unrefs it. */
GPtrArray *pp_access_rows_all(const struct pp_access_pass *self);

/* tables.c */
struct pp_table *pp_access_sections_table(const struct pp_access_pass *self);
struct pp_table *pp_access_locks_table(const struct pp_access_pass *self);

/* variables.c */
struct pp_table *pp_access_variables_table(const struct pp_access_pass *self);
struct pp_table *pp_access_false_sharing_table(const struct pp_access_pass *self);

/* words.c: the sections and their variables in words. */
struct pp_table *pp_access_words_table(const struct pp_access_pass *self,
				       const struct pp_table *variables,
				       const struct pp_table *false_sharing);

/* Notes for a table about accesses: they tell what its figures leave out (notes.c). */
/* Names the objects and source files whose accesses are missing. */
void pp_access_note_uninstrumented(struct pp_table *table, const struct pp_pass_context *context);
void pp_access_notes(struct pp_table *table, const struct pp_pass_context *context,
		     const struct pp_access_figures *all);

#endif
