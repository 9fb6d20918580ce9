/* SPDX-License-Identifier: MIT */
/* The columns of the pass "occ-timing": tables "occ_timing", "occ_threads" and "occ_costs". */
#ifndef PP_PASS_OCC_TIMING_H
#define PP_PASS_OCC_TIMING_H

#include "analysis/thread_cells.h"
#include "pass/occ/sections.h"

/* "occ_timing": after the cells of the section, the nested table by thread. */
#define PP_OCC_TIMES PP_N_OCC_CELLS

enum {
	PP_OCC_SHARED = PP_N_NAMED_THREAD_CELLS,
	PP_OCC_EXCLUSIVE,
	PP_OCC_WAIT,
	PP_OCC_IN_SECTION,
	PP_OCC_HOLDS,
	PP_OCC_CONTENDED_RELEASES,
	PP_N_OCC_TIME_CELLS
};
extern const struct pp_column pp_occ_time_columns[PP_N_OCC_TIME_CELLS];

/* "occ_threads" */
enum { PP_OCC_EXECUTION = PP_N_NAMED_THREAD_CELLS, PP_N_OCC_THREAD_CELLS };

/* "occ_costs": one row. */
enum { PP_OCC_RELEASE_COST, PP_N_OCC_COST_CELLS };

#endif
