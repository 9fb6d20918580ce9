/* SPDX-License-Identifier: MIT */
/*
 * libsync_trace_ust.so: the LTTng-UST provider `gmon_mt_sync`.
 *
 * A shared object of its own, so that libsync_trace.so depends only on libc, and LTTng is not
 * loaded into programs that do not use this sink.
 */
#include <signal.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "ust/provider.h"

#include <lttng/ust-fork.h>
#include <lttng/ust-thread.h>

#include "ust/ust.h"

#define EMIT_SITE(name)
#define EMIT_OP(name)                                                                              \
	static void emit_##name(uint8_t result, uint64_t site, uint64_t object, uint64_t extra)    \
	{                                                                                          \
		lttng_ust_tracepoint(gmon_mt_sync, name, result, site, object, extra);             \
	}
#define EMIT_BEGIN   EMIT_OP
#define EMIT_VALUE   EMIT_OP
#define EMIT_COND    EMIT_OP
#define EMIT_ROUTINE EMIT_OP
#define EMIT_IO	     EMIT_OP
#define EMIT_CALL_PATH(name)
#define EMIT_PATH(name)
#define EMIT_TRIES(name)
#define EMIT_CONDITIONALS(name)
#define EMIT_ORDER(name)
#define EMIT(name, shape) EMIT_##shape(name)
ST_EVENTS(EMIT)

#define ROW_SITE(name)
#define ROW_OP(name) [ST_EVENT_##name] = emit_##name,
#define ROW_BEGIN    ROW_OP
#define ROW_VALUE    ROW_OP
#define ROW_COND     ROW_OP
#define ROW_ROUTINE  ROW_OP
#define ROW_IO	     ROW_OP
#define ROW_CALL_PATH(name)
#define ROW_PATH(name)
#define ROW_TRIES(name)
#define ROW_CONDITIONALS(name)
#define ROW_ORDER(name)
#define ROW(name, shape) ROW_##shape(name)

/* Signal mask of the forking thread. */
static __thread sigset_t forking_mask;

static void fork_prepare(void)
{
	lttng_ust_before_fork(&forking_mask);
}

static void fork_parent(void)
{
	lttng_ust_after_fork_parent(&forking_mask);
}

static void fork_child(void)
{
	lttng_ust_after_fork_child(&forking_mask);
}

__attribute__((visibility("default"))) extern const struct st_ust_provider st_ust_provider;
const struct st_ust_provider st_ust_provider = {
    .version = ST_UST_VERSION,
    .thread_init = lttng_ust_init_thread,
    .fork_prepare = fork_prepare,
    .fork_parent = fork_parent,
    .fork_child = fork_child,
    .emit = {ST_EVENTS(ROW)},
};
