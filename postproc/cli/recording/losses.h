/* SPDX-License-Identifier: MIT */
/* Losses of a recording: they are added to info.json and printed to stderr. */
#ifndef PP_CLI_RECORDING_LOSSES_H
#define PP_CLI_RECORDING_LOSSES_H

#include "record/info.h"
#include "record/lttng/lttng.h"

/* Reports the collector's losses, with remedies. write_error: -errno, or 0. */
void pp_losses_kernel(struct pp_run *run, int write_error);

/* Ends LTTng's session, and reports its losses. */
void pp_losses_lttng(struct pp_run *run, struct pp_lttng *lttng);

/* Prints the losses from number `first` on, which the runtime libraries counted. */
void pp_losses_print(const struct pp_run *run, guint first);

#endif
