/* SPDX-License-Identifier: MIT */
/*
 * Programs that ran without the runtime libraries: the kernel recorded their exec, but the capture
 * has no folder for them.
 */
#ifndef PP_CLI_RECORDING_UNLOADED_H
#define PP_CLI_RECORDING_UNLOADED_H

#include "record/info.h"
#include "capture/capture.h"

/*
 * Adds a loss for each program, with the reason if its file gives one.  Returns the number of
 * executions.
 */
uint64_t pp_unloaded_note(struct pp_run *run, const struct pp_capture *capture);

#endif
