/* SPDX-License-Identifier: MIT */
/*
 * The events of libsync-trace for LTTng-UST: gmon_mt_sync:mutex_lock and so on, one for each event
 * of events.h except `site`, since a call site is given by its address here, and call paths.
 *
 * LTTng includes this file many times, each time with different definitions of its macros.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER gmon_mt_sync
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "ust/provider.h"

#if !defined(ST_UST_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define ST_UST_EVENTS_H

#include <stdint.h>

#include <lttng/tracepoint.h>

#include "sync-trace/events.h"
#include "ust/ust.h"

#define ST_UST_ARGUMENTS                                                                           \
	LTTNG_UST_TP_ARGS(uint8_t, result, uint64_t, site, uint64_t, object, uint64_t, extra)
#define ST_UST_FIELDS                                                                              \
	lttng_ust_field_integer(uint8_t, result, result)                                           \
	    lttng_ust_field_integer_hex(uint64_t, site, site)                                      \
		lttng_ust_field_integer_hex(uint64_t, object, object)

LTTNG_UST_TRACEPOINT_EVENT_CLASS(gmon_mt_sync, op, ST_UST_ARGUMENTS,
				 LTTNG_UST_TP_FIELDS(ST_UST_FIELDS))
LTTNG_UST_TRACEPOINT_EVENT_CLASS(
    gmon_mt_sync, begin, ST_UST_ARGUMENTS,
    LTTNG_UST_TP_FIELDS(ST_UST_FIELDS lttng_ust_field_integer(uint32_t, holder, (uint32_t)extra)))
LTTNG_UST_TRACEPOINT_EVENT_CLASS(
    gmon_mt_sync, value, ST_UST_ARGUMENTS,
    LTTNG_UST_TP_FIELDS(ST_UST_FIELDS lttng_ust_field_integer(uint32_t, value, (uint32_t)extra)))
LTTNG_UST_TRACEPOINT_EVENT_CLASS(
    gmon_mt_sync, cond, ST_UST_ARGUMENTS,
    LTTNG_UST_TP_FIELDS(ST_UST_FIELDS lttng_ust_field_integer_hex(uint64_t, mutex, extra)))
LTTNG_UST_TRACEPOINT_EVENT_CLASS(
    gmon_mt_sync, routine, ST_UST_ARGUMENTS,
    LTTNG_UST_TP_FIELDS(ST_UST_FIELDS lttng_ust_field_integer_hex(uint64_t, routine, extra)))

LTTNG_UST_TRACEPOINT_EVENT_CLASS(
    gmon_mt_sync, io, ST_UST_ARGUMENTS,
    LTTNG_UST_TP_FIELDS(
	ST_UST_FIELDS lttng_ust_field_integer(uint8_t, call, (uint8_t)(extra >> ST_UST_CALL_SHIFT))
	    lttng_ust_field_integer(uint64_t, duration,
				    extra &((UINT64_C(1) << ST_UST_CALL_SHIFT) - 1))))

#define ST_UST_INSTANCE(class, name)                                                               \
	LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(gmon_mt_sync, class, gmon_mt_sync, name,               \
					    ST_UST_ARGUMENTS)
#define ST_UST_OP(name)	     ST_UST_INSTANCE(op, name)
#define ST_UST_BEGIN(name)   ST_UST_INSTANCE(begin, name)
#define ST_UST_VALUE(name)   ST_UST_INSTANCE(value, name)
#define ST_UST_COND(name)    ST_UST_INSTANCE(cond, name)
#define ST_UST_ROUTINE(name) ST_UST_INSTANCE(routine, name)
#define ST_UST_IO(name)	     ST_UST_INSTANCE(io, name)
#define ST_UST_SITE(name)
#define ST_UST_CALL_PATH(name)
#define ST_UST_PATH(name)
#define ST_UST_TRIES(name)
#define ST_UST_CONDITIONALS(name)
#define ST_UST_ORDER(name)
#define ST_UST_EVENT(name, shape) ST_UST_##shape(name)

ST_EVENTS(ST_UST_EVENT)

#endif

#include <lttng/tracepoint-event.h>
