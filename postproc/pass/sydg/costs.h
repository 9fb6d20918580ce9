/* SPDX-License-Identifier: MIT */
/* Costs in the cells of tables: times, or numbers of conditionals. */
#ifndef PP_PASS_SYDG_COSTS_H
#define PP_PASS_SYDG_COSTS_H

#include "table/table.h"

/* Copies the columns; those of metrics become numbers: "apwt_ns", "apwt_conditionals". */
void pp_cost_counted(struct pp_column *to, const struct pp_column *from, unsigned n);

void pp_cost_set(struct pp_cell *cell, bool is_counted, int64_t cost);

#define PP_NO_CONDITIONALS                                                                         \
	"no conditionals were counted: the program was not built with "                            \
	"-fsanitize-coverage=trace-pc; use --clock running"

#endif
