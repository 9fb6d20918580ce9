/* SPDX-License-Identifier: MIT */
/*
 * LTTng's kernel tracer (lttng-modules) as the source of the kernel's events.  It records all
 * programs of the machine; the reader keeps the events of the profiled program.
 */
#ifndef PP_RECORD_LTTNG_KERNEL_H
#define PP_RECORD_LTTNG_KERNEL_H

#include <stdbool.h>

#include "core/error.h"
#include "runtime/config/config.h"

struct lttng_handle;

/* The tracer's modules. */
bool pp_lttng_kernel_is_loaded(void);

/* For kernel.source = auto: root, with the modules loaded and a session daemon running. */
bool pp_lttng_kernel_ready(void);

/* What a daemon lacks for the kernel tracer, and the remedy. */
struct pp_lttng_lack {
	const char *what, *remedy;
};

/* Asks the running session daemon whether it has the kernel tracer; *ret_lack: why not. */
bool pp_lttng_kernel_ask(struct pp_lttng_lack *ret_lack);

/*
 * Adds the kernel's domain to a session that has not started: a channel with the events of the
 * level.  *ret_missing: the optional events that this kernel or its modules lack; NULL: none.
 */
int pp_lttng_kernel_add(const char *session, enum gm_level level, struct lttng_handle **ret_handle,
			char **ret_missing, struct pp_error *err);

#endif
