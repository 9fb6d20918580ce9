/* SPDX-License-Identifier: MIT */
/*
 * The file reversals.json of a capture: what `gprof-mt replay --engine=live --reverse` has found.
 *
 *	{"schema": 1, "run": "UUID START_NS PID", "build_id": "...",
 *	 "pairs": [{"first", "second", "benign", "samples", "runs"}]}
 *
 * `run` is that of the capture (clock.uuid, start_ns and pid of info.json), and `build_id` that of
 * its program: the names of the pairs are of this build.
 */
#ifndef PP_CAPTURE_REVERSALS_H
#define PP_CAPTURE_REVERSALS_H

#include "core/error.h"
#include "core/model.h"

#define PP_REVERSALS_FILE "reversals.json"

/* Reads the file, if there is one, into the model, after its processes. */
void pp_reversals_read(struct pp_model *model);

/* The build id of the model's program; "": not known. */
const char *pp_reversals_build(const struct pp_model *model);

/* Writes it into the capture of the model.  Returns 0 or -errno. */
int pp_reversals_write(const struct pp_model *model, const struct pp_reversals *reversals,
		       struct pp_error *err);

#endif
