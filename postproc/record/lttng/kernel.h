/* SPDX-License-Identifier: MIT */
/*
 * LTTng's kernel tracer (lttng-modules) as the source of the kernel's events.  It records all
 * programs of the machine; the reader keeps those of the one that was profiled.
 */
#ifndef PP_RECORD_LTTNG_KERNEL_H
#define PP_RECORD_LTTNG_KERNEL_H

#include <stdbool.h>

#include "core/error.h"
#include "runtime/config.h"

struct lttng_handle;

#define PP_LTTNG_KERNEL_MODULE "/sys/module/lttng_tracer"

/* Root, with its session daemon running and the modules loaded: to be used unasked. */
bool pp_lttng_kernel_ready(void);

/*
 * Adds the kernel's domain to a session that has not started: a channel with the events of the
 * level.  *ret_missing: the optional ones that this kernel or its modules have not, NULL: none.
 */
int pp_lttng_kernel_add(const char *session, enum gm_level level, struct lttng_handle **ret_handle,
			char **ret_missing, struct pp_error *err);

#endif
