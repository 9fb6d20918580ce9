/* SPDX-License-Identifier: MIT */
#ifndef PP_CORE_DURATION_H
#define PP_CORE_DURATION_H

#include <stdint.h>

/* A duration in three digits and a unit: "1.23 ms".  The caller frees it. */
char *pp_duration_text(int64_t time_ns);

#endif
