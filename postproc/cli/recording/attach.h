/* SPDX-License-Identifier: MIT */
/* record --pid. */
#ifndef PP_CLI_RECORDING_ATTACH_H
#define PP_CLI_RECORDING_ATTACH_H

#include <stdint.h>
#include <sys/types.h>

#include "runtime/config/config.h"

/*
 * Records a process that already runs, for duration_ns (0: until it ends, or until a signal).
 * Returns the exit status.
 */
int pp_record_attach(pid_t pid, int64_t duration_ns, struct gm_config *config);

#endif
