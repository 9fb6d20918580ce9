/* SPDX-License-Identifier: MIT */
/* The CPUs of this machine. */
#ifndef PP_RECORD_PERF_CPUS_H
#define PP_RECORD_PERF_CPUS_H

#include <glib.h>

/* Returns the numbers of those that are online, an array of int; the caller unrefs it. */
GArray *pp_online_cpus(void);

#endif
