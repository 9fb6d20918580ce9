/* SPDX-License-Identifier: MIT */
/*
 * Between libsync_trace.so and libsync_trace_ust.so, the LTTng-UST provider, which the first loads
 * when the configuration asks for that sink.  The second needs nothing of the first.
 */
#ifndef ST_UST_H
#define ST_UST_H

#include <stdint.h>

#include "sync-trace/events.h"

/* Grows with every change of what is below: the two files may be of different builds. */
#define ST_UST_VERSION (ST_N_EVENTS << 8 | 1)

/* One event; `extra` is the shape's last field.  LTTng stamps it. */
typedef void st_ust_emit_fn(uint8_t result, uint64_t site, uint64_t object, uint64_t extra);

struct st_ust_provider {
	uint32_t version;
	/* For each thread once, before its first event: what needs LTTng's locks is done here. */
	void (*thread_init)(void);
	/* Around fork().  The child's threads of LTTng are made in the last. */
	void (*fork_prepare)(void);
	void (*fork_parent)(void);
	void (*fork_child)(void);
	st_ust_emit_fn *emit[ST_N_EVENTS]; /* NULL: LTTng has no such event */
};

#define ST_UST_PROVIDER "st_ust_provider"

#endif
