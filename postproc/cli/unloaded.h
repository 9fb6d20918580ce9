/* SPDX-License-Identifier: MIT */
/*
 * Programs that ran without our libraries: the kernel tells that they were executed, and nothing in
 * the capture is theirs.
 */
#ifndef PP_CLI_UNLOADED_H
#define PP_CLI_UNLOADED_H

#include "record/info.h"
#include "capture/capture.h"

/* Adds a loss for each program, with the reason where its file tells; returns how many ran. */
uint64_t pp_unloaded_note(struct pp_run *run, const struct pp_capture *capture);

#endif
