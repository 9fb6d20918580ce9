/* SPDX-License-Identifier: MIT */
/* Samples, with and without stacks (folded_samples.c). */
#ifndef PP_EXPORT_STACKS_SAMPLES_H
#define PP_EXPORT_STACKS_SAMPLES_H

#include "export/exporter.h"

/* The number of the innermost addresses of a sample that are in gprof-mt's libraries. */
unsigned pp_samples_own(const struct pp_namer *namer, const struct pp_process *process,
			const uint64_t *path, unsigned n);

/* Receives the CPU time of a thread in a function, in ns. */
typedef void pp_samples_take(void *data, const struct pp_thread *thread, const char *function,
			     uint64_t ns);

/*
 * Passes on all samples, from the table of the pass `flat`.  Returns the table, for its notes.  The
 * exporter must list `flat` in `needs`.
 */
const struct pp_table *pp_samples_each(const struct pp_export *export, pp_samples_take *take,
				       void *data);

#endif
