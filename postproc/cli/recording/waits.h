/* SPDX-License-Identifier: MIT */
/* The waits that `record` prints at the end. */
#ifndef PP_CLI_RECORDING_WAITS_H
#define PP_CLI_RECORDING_WAITS_H

#include "capture/capture.h"

/*
 * The objects that threads waited for most, one per line.  Takes ownership of the capture.  Reads
 * only synch-events, for two seconds at most; if there are more, a first line tells how the figures
 * are estimated.  NULL if nothing can be read.  *ret_section is the section of the report that
 * shows more.
 */
GStrv pp_waits_describe(struct pp_capture *capture, const char **ret_section);

#endif
