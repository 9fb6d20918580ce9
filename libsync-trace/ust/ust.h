/* SPDX-License-Identifier: MIT */
/*
 * The interface between libsync_trace.so and libsync_trace_ust.so, the LTTng-UST provider, which
 * the first loads if the configuration selects that sink. The provider needs nothing from
 * libsync_trace.so.
 */
#ifndef ST_UST_H
#define ST_UST_H

#include <stdint.h>

#include "sync-trace/events.h"

/* Changes with every change below: the two files may come from different builds. */
#define ST_UST_VERSION (ST_N_EVENTS << 8 | 2)

/*
 * One event; `extra` is the last field of the shape; of an io_call, its duration with the number of
 * the call in the upper bits. LTTng stamps it.
 */
#define ST_UST_CALL_SHIFT 56

typedef void st_ust_emit_fn(uint8_t result, uint64_t site, uint64_t object, uint64_t extra);

struct st_ust_provider {
	uint32_t version;
	/* Called once for each thread, before its first event: takes LTTng's locks. */
	void (*thread_init)(void);
	/* Called around fork(). fork_child() starts LTTng's threads in the child. */
	void (*fork_prepare)(void);
	void (*fork_parent)(void);
	void (*fork_child)(void);
	st_ust_emit_fn *emit[ST_N_EVENTS]; /* NULL: LTTng has no such event */
};

#define ST_UST_PROVIDER "st_ust_provider"

#endif
