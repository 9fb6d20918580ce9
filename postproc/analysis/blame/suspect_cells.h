/* SPDX-License-Identifier: MIT */
/*
 * The sums of suspects (suspects.h), by call.  They are fractions of nanoseconds, and rounded at
 * the end such that their sum is exact.
 */
#ifndef PP_ANALYSIS_BLAME_SUSPECT_CELLS_H
#define PP_ANALYSIS_BLAME_SUSPECT_CELLS_H

#include "analysis/blame/blame.h"

/* The kinds of idleness, and of suspects. */
enum pp_suspect_kind {
	PP_SUSPECT_LOCK,  /* I_l, W_l */
	PP_SUSPECT_OTHER, /* I_c, W_co */
	PP_N_SUSPECT_KINDS
};

/* The share of all threads with the same path. */
struct pp_suspect {
	enum pp_suspect_kind kind;
	const struct pp_process *process;
	struct pp_blame_call call; /* op ST_N_EVENTS: a sample, or if path is NULL nothing */
	int64_t ns;
};

/* A unit is 2^-32 ns. */
#define PP_SUSPECT_UNIT_BITS 32

struct pp_suspect_cell {
	struct pp_suspect suspect; /* its ns: after pp_suspect_cells_round() */
	unsigned __int128 units;
};

struct pp_suspect_cells {
	GHashTable *known; /* a set */
	GPtrArray *all;	   /* of struct pp_suspect_cell *, in order of appearance */
};

void pp_suspect_cells_init(struct pp_suspect_cells *cells);
void pp_suspect_cells_done(struct pp_suspect_cells *cells);

/* The cell with the same kind, process and call. */
struct pp_suspect_cell *pp_suspect_cell_of(struct pp_suspect_cells *cells,
					   const struct pp_suspect *suspect);

/* Rounds the sums of a kind; rest: units that belong to none of them. */
void pp_suspect_cells_round(const struct pp_suspect_cells *cells, enum pp_suspect_kind kind,
			    uint64_t rest);

#endif
