/* SPDX-License-Identifier: MIT */
/* The columns of the prediction: tables "occ", "occ_total" and "occ_left_out". */
#ifndef PP_PASS_OCC_COLUMNS_H
#define PP_PASS_OCC_COLUMNS_H

#include "pass/occ/timing.h"

enum {
	PP_OCC_SAVED,
	PP_OCC_LOCK,
	PP_OCC_LOCK_TYPE,
	PP_OCC_LOCK_ADDRESS,
	PP_OCC_ACQUIRED_AT,
	PP_OCC_SECTION_SITES,
	PP_OCC_ACQUIRED,
	PP_OCC_RD_OPS,
	PP_OCC_WR_OPS,
	PP_OCC_LOCS_RW,
	PP_OCC_LOCS_RD,
	PP_OCC_CACHE_RW,
	PP_OCC_CACHE_RD,
	PP_OCC_WAITS,
	PP_OCC_CONFLICT,
	PP_OCC_CONFLICT_LINES,
	PP_OCC_INTERSECT,
	PP_OCC_INTERSECT_LINES,
	PP_OCC_SAVED_LINES,
	PP_OCC_SECTION_INSTANCES,
	PP_OCC_SECTION_UNKNOWN,
	PP_OCC_SECTION_INEXACT,
	PP_OCC_SECTION_COMPARED,
	PP_OCC_PAIR,
	PP_OCC_PAIR_LINES,
	PP_OCC_SECTION_THREADS,
	PP_N_OCC_COLUMNS
};
extern const struct pp_column pp_occ_columns[PP_N_OCC_COLUMNS];

/* Columns of the nested table of threads. */
enum {
	PP_OCC_T_SHARED = PP_N_NAMED_THREAD_CELLS,
	PP_OCC_T_EXCLUSIVE,
	PP_OCC_T_WAIT,
	PP_OCC_T_CS,
	PP_OCC_T_RELEASE,
	PP_OCC_T_SPEEDUP,
	PP_OCC_T_SPEEDUP_LINES,
	PP_OCC_T_PAPER,
	PP_OCC_T_PAPER_LINES,
	PP_OCC_T_WAITED,
	PP_OCC_T_HELD,
	PP_OCC_T_RELEASES,
	PP_N_OCC_T_COLUMNS
};
extern const struct pp_column pp_occ_thread_columns[PP_N_OCC_T_COLUMNS];

enum {
	PP_OCC_BY,
	PP_OCC_EFFICIENCY,
	PP_OCC_BEST_CASE,
	PP_OCC_PAPER_BEST_CASE,
	PP_OCC_EXECUTED,
	PP_OCC_COST,
	PP_OCC_TOTAL_RELEASE,
	PP_N_OCC_TOTAL_COLUMNS
};
extern const struct pp_column pp_occ_total_columns[PP_N_OCC_TOTAL_COLUMNS];

enum {
	PP_OCC_OUT_LOCK,
	PP_OCC_OUT_SITE,
	PP_OCC_OUT_WHY,
	PP_OCC_OUT_ACQUIRED,
	PP_OCC_OUT_WAIT,
	PP_N_OCC_OUT_COLUMNS
};
extern const struct pp_column pp_occ_out_columns[PP_N_OCC_OUT_COLUMNS];

/*
 * The words, if any, and the table "occ" as text, in the layout of the paper's Figure 1.  The
 * caller frees it.
 */
char *pp_occ_text(const struct pp_table *table, const char *words);

/* Says in a sentence or two how much would be gained, and at which lock.  The caller frees it. */
char *pp_occ_words(const struct pp_table *table, const struct pp_table *totals);

#endif
