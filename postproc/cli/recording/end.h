/* SPDX-License-Identifier: MIT */
/* The end of a recording. */
#ifndef PP_CLI_RECORDING_END_H
#define PP_CLI_RECORDING_END_H

#include "record/gmon_out.h"
#include "record/info.h"
#include "record/lttng/lttng.h"

/*
 * Ends run->collector and LTTng's session, writes the rest of the capture, and prints the summary.
 * lttng, gmon_out: NULL if the recording has none.
 */
void pp_record_end(struct pp_run *run, struct pp_lttng *lttng, const struct pp_gmon_out *gmon_out);

#endif
