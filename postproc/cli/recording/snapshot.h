/* SPDX-License-Identifier: MIT */
/*
 * Snapshots: what a capture that is being recorded has at one instant, as a capture of its own.  It
 * is complete from `since_ns` of its model up to that instant, which info.json has in "snapshot"
 * {time_ns, kernel_ns, why}; readers ignore later events.  The program is not stopped.
 */
#ifndef PP_CLI_RECORDING_SNAPSHOT_H
#define PP_CLI_RECORDING_SNAPSHOT_H

#include <stdbool.h>

#include "core/error.h"

/*
 * Writes the snapshot of the capture `dir` to `out`, or, if that is NULL, to DIR.snapshot.N with
 * the first N that is free.  `why`: in words.  *is_over (may be NULL) may be set by another thread:
 * no more kernel events are awaited.  Returns 0 and its name, which the caller frees; or -errno,
 * and leaves nothing.
 */
int pp_snapshot_write(const char *dir, const char *out, const char *why, const int *is_over,
		      char **ret_out, struct pp_error *err);

/* Returns the line about a snapshot: which part of the time it has.  The caller frees it. */
char *pp_snapshot_describe(const char *out);

#endif
