/* SPDX-License-Identifier: MIT */
/* The summary that `record` prints at the end: captured data and losses. */
#ifndef PP_CLI_RECORDING_SUMMARY_H
#define PP_CLI_RECORDING_SUMMARY_H

#include "record/info.h"
#include "capture/capture.h"

/*
 * Sets run->processes and run->threads from the capture and the kernel's events, and adds losses to
 * run->losses.  Returns the line to print, which the caller frees.
 */
char *pp_summary_make(struct pp_run *run, const struct pp_capture *capture);

#endif
