/* SPDX-License-Identifier: MIT */
/* The samples, as the table of pass flat has them (folded_samples.c). */
#ifndef PP_EXPORT_STACKS_SAMPLES_H
#define PP_EXPORT_STACKS_SAMPLES_H

#include "export/exporter.h"

/* So much CPU time of the thread was in the function. */
typedef void pp_samples_take(void *data, const struct pp_thread *thread, const char *function,
			     uint64_t ns);

/* Hands over all there are; the table, for its notes.  The exporter has to need `flat`. */
const struct pp_table *pp_samples_each(const struct pp_export *export, pp_samples_take *take,
				       void *data);

#endif
