/* SPDX-License-Identifier: MIT */
/*
 * Predicts what optimistic concurrency would gain (paper 001) from the tables of the passes
 * "occ-timing" and "occ-accesses", of one capture or of two.
 */
#ifndef PP_PASS_OCC_PREDICT_H
#define PP_PASS_OCC_PREDICT_H

#include "pass/occ/join.h"

struct pp_occ_inputs {
	struct pp_occ_join join;
	const struct pp_table *threads; /* table "occ_threads" of the first capture */
	double release_ns;		/* CPU time of a contended release; 0: not known */
	double operation_ns;		/* O: the cost of recording an operation */
};

/*
 * Adds tables "occ" (a row for each section), "occ_total" and "occ_left_out", which the array owns.
 * Returns -ENODATA if the captures have no section in common.
 */
int pp_occ_predict(const struct pp_occ_inputs *inputs, GPtrArray *tables, struct pp_error *err);

#endif
