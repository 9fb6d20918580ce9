/* SPDX-License-Identifier: MIT */
/*
 * Reads traces through Babeltrace, in one graph: one src.ctf.fs for each directory, and our sink
 * with an input port for each stream.  The sink runs the sweep.
 *
 * A trace that src.ctf.fs rejects is skipped, and a stream ends where src.ctf.fs fails in it; both
 * are damage of the capture.  Babeltrace's own log stays off: its errors are taken as causes.
 */
#ifndef PP_CTF_BABELTRACE_BABELTRACE_H
#define PP_CTF_BABELTRACE_BABELTRACE_H

#include "core/error.h"
#include "ctf/sweep.h"

/*
 * Adds the streams of the traces (of struct pp_trace *) to the sweep, which must not be started
 * yet, and runs it to its end.  Among events of equal time, these streams come after `n_before`
 * others.  Returns 0 or -errno.
 */
int pp_babeltrace_run(struct pp_sweep *sweep, const GPtrArray *traces, unsigned n_before,
		      struct pp_error *err);

#endif
