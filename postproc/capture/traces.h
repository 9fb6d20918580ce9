/* SPDX-License-Identifier: MIT */
/* Finds the CTF traces of a capture: directories with metadata and streams. */
#ifndef PP_CAPTURE_TRACES_H
#define PP_CAPTURE_TRACES_H

#include "capture/capture.h"

/* Adds <parent>/<name> to the list `to` if it is a trace. */
void pp_traces_add(struct pp_capture *capture, GPtrArray *to, const char *parent, const char *name,
		   struct pp_process *process);

/* Add the traces below kernel/ and below ust/. */
void pp_traces_add_kernel(struct pp_capture *capture);
void pp_traces_add_ust(struct pp_capture *capture);

/* Size of all streams of the trace. */
uint64_t pp_trace_bytes(const struct pp_trace *trace);

/* The kinds of events in the kernel traces of a capture. */
struct pp_kernel_abilities {
	bool has_events;       /* there is at least one kernel trace */
	bool has_switch_pairs; /* a switch names both threads, the previous and the next */
	bool has_wakings;
};

void pp_kernel_abilities(const struct pp_capture *capture, struct pp_kernel_abilities *ret);

#endif
