/* SPDX-License-Identifier: MIT */
/* What a recording lacks: added to its info.json, and told on stderr. */
#ifndef PP_CLI_LOSSES_H
#define PP_CLI_LOSSES_H

#include "record/info.h"
#include "record/lttng/lttng.h"

/* What the collector lost, and what to do about it.  write_error: -errno, or 0. */
void pp_losses_kernel(struct pp_run *run, int write_error);

/* Ends the session, if there is one. */
void pp_losses_lttng(struct pp_run *run, struct pp_lttng *lttng);

/* Those from `first` on, which the runtime libraries counted, whatever the reason. */
void pp_losses_tell(const struct pp_run *run, guint first);

#endif
