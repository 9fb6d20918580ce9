/* SPDX-License-Identifier: MIT */
/*
 * Traces read by Babeltrace, in one graph: a src.ctf.fs for each directory, and a sink of ours with
 * an input port for each stream, which runs the sweep.
 *
 * A trace that src.ctf.fs refuses is left out, and a stream in which it fails ends there; both are
 * damage of the capture.  Babeltrace's own log stays off: its errors come as causes.
 */
#ifndef PP_CTF_BABELTRACE_BABELTRACE_H
#define PP_CTF_BABELTRACE_BABELTRACE_H

#include "core/error.h"
#include "ctf/sweep.h"

/*
 * Adds the streams of these traces (of struct pp_trace *) to the sweep, which is not started yet,
 * and runs it to its end.  Between equal times, they come behind `n_before` others.
 */
int pp_babeltrace_run(struct pp_sweep *sweep, const GPtrArray *traces, unsigned n_before,
		      struct pp_error *err);

#endif
