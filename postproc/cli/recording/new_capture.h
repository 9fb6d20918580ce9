/* SPDX-License-Identifier: MIT */
/* The directory of a new capture. */
#ifndef PP_CLI_RECORDING_NEW_CAPTURE_H
#define PP_CLI_RECORDING_NEW_CAPTURE_H

#include "record/discard.h"
#include "record/info.h"

/*
 * Creates the directory with `session` and `config`, and sets run->dir_fd.  Returns 0 or -errno;
 * on failure, nothing is left.
 */
int pp_record_make_capture(struct gm_config *config, struct gm_capture *capture, struct pp_run *run,
			   struct pp_error *err);

/* Ends the recording; removes the directory if it has failed.  Ends `discard`, too. */
void pp_record_end_capture(struct gm_capture *capture, const struct pp_run *run,
			   struct pp_discard *discard, bool is_good);

#endif
