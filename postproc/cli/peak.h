/* SPDX-License-Identifier: MIT */
#ifndef PP_CLI_PEAK_H
#define PP_CLI_PEAK_H

#include "core/model.h"

/* The most threads that were alive at the same time; 0: not known. */
int64_t pp_cli_peak_threads(const struct pp_model *model);

#endif
