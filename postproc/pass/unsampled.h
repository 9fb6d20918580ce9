/* SPDX-License-Identifier: MIT */
/*
 * Threads without a sample in a recording that has attached: of its process, and of those that this
 * starts.
 */
#ifndef PP_PASS_UNSAMPLED_H
#define PP_PASS_UNSAMPLED_H

#include "core/model.h"
#include "table/table.h"

/* Their number and running time. */
struct pp_unsampled {
	unsigned n, n_others;
	int64_t ns, others_ns;
};

/* A thread of that process ran for so long, and has no sample. */
void pp_unsampled_add(struct pp_unsampled *sum, const struct pp_process *process, int64_t ns);

/* Adds notes to the table, if the recording has attached and took samples. */
void pp_unsampled_note(const struct pp_unsampled *sum, const struct pp_model *model,
		       struct pp_table *table);

#endif
