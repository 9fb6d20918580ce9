/* SPDX-License-Identifier: MIT */
/*
 * Samples with their call stacks, as a Perfetto trace has them.  Stacks, frames and names are
 * numbered at their first use, in the same packet.
 */
#ifndef PP_EXPORT_TRACE_SAMPLES_H
#define PP_EXPORT_TRACE_SAMPLES_H

#include "export/exporter.h"
#include "export/trace/perfetto.pb-c.h"

struct pp_trace_samples;

/* `take` adds what all packets have, and writes the packet. */
struct pp_trace_samples *
pp_trace_samples_new(const struct pp_export *export,
		     void (*take)(void *data, Perfetto__TracePacket *packet), void *data);
void pp_trace_samples_free(struct pp_trace_samples *samples);

/* Writes a selected sample.  Returns false if it is not selected. */
bool pp_trace_samples_event(struct pp_trace_samples *samples, const struct pp_event *event);

#endif
