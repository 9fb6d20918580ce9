/* SPDX-License-Identifier: MIT */
/* What `record` says when the program has ended: what was captured, and what was lost. */
#ifndef PP_CLI_SUMMARY_H
#define PP_CLI_SUMMARY_H

#include "record/info.h"
#include "capture/capture.h"

/*
 * Sets run->processes and run->threads from the capture and the kernel, adds to run->losses what
 * was counted as lost.  Returns the line to print.
 */
char *pp_summary_make(struct pp_run *run, const struct pp_capture *capture);

/*
 * The objects that threads waited for most, a line each, of a capture that it takes.  Reads the
 * synch-events alone, and says so instead where they are too many to be read in passing.  NULL:
 * nobody waited, or nothing can be read.
 */
GStrv pp_summary_waits(struct pp_capture *capture);

#endif
