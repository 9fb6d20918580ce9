/* SPDX-License-Identifier: MIT */
/* The samples, from the table of the pass `flat` (folded_samples.c). */
#ifndef PP_EXPORT_STACKS_SAMPLES_H
#define PP_EXPORT_STACKS_SAMPLES_H

#include "export/exporter.h"

/* Receives the CPU time of a thread in a function, in ns. */
typedef void pp_samples_take(void *data, const struct pp_thread *thread, const char *function,
			     uint64_t ns);

/*
 * Passes on all samples.  Returns the table, for its notes.  The exporter must list `flat` in
 * `needs`.
 */
const struct pp_table *pp_samples_each(const struct pp_export *export, pp_samples_take *take,
				       void *data);

#endif
