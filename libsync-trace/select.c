/* SPDX-License-Identifier: MIT */
/*
 * What is recorded at all: [sync] types.
 *
 * Decided once, when the process is opened, for each event.  The operation that opens it has asked
 * too early; but a writer without a stream takes every event to st_emit(), which asks again.
 */
#include "internal.h"
#include "runtime/runtime.h"
#include "runtime/sys.h"

uint8_t st_fates[ST_N_EVENTS];

#define MUTEX  (1u << GM_SYNC_TYPE_mutex)
#define COND   (1u << GM_SYNC_TYPE_cond)
#define SIGNAL (1u << GM_SYNC_TYPE_signal)

static bool selective;

static bool starts_with(const char *name, const char *prefix)
{
	while (*prefix != '\0' && *name == *prefix) {
		name++;
		prefix++;
	}
	return *prefix == '\0';
}

/* The types of which any makes the event be recorded; 0: it always is. */
static uint32_t types_of(enum st_event id, const char *name)
{
#define TYPE_NAME(type) #type,
	static const char *const types[] = {GM_SYNC_TYPES(TYPE_NAME)};
#undef TYPE_NAME

	switch (id) {
	case ST_EVENT_thread_start:
	case ST_EVENT_thread_exit:
		return 0; /* whose the packets are */
	case ST_EVENT_cond_wait_begin:
	case ST_EVENT_cond_wait:
	case ST_EVENT_cond_timedwait_begin:
	case ST_EVENT_cond_timedwait:
		return COND | MUTEX; /* which is given up and taken again */
	case ST_EVENT_thread_kill:
	case ST_EVENT_thread_sigqueue:
	case ST_EVENT_thread_cancel:
	case ST_EVENT_thread_failed:
		return SIGNAL;
	default:
		break;
	}
	for (unsigned i = 0; i < GM_N_SYNC_TYPES; i++)
		if (starts_with(name, types[i]))
			return 1u << i;
	return 0; /* site, path, call_path */
}

void st_select(uint64_t types, bool contended)
{
#define EVENT_NAME(name, shape) #name,
	static const char *const names[ST_N_EVENTS] = {ST_EVENTS(EVENT_NAME)};
#undef EVENT_NAME

	for (unsigned id = 0; id < ST_N_EVENTS; id++) {
		uint32_t any = types_of(id, names[id]);
		uint8_t fate = contended && st_counted_of[id] != 0 ? ST_COUNTED : ST_RECORDED;

		if (any != 0 && (types & any) == 0)
			fate = ST_SKIPPED;
		selective |= fate != ST_RECORDED;
		__atomic_store_n(&st_fates[id], fate, __ATOMIC_RELAXED);
	}
	gm_process_set_sync_types_off(~(uint32_t)types & ((1u << GM_N_SYNC_TYPES) - 1));
}

bool st_is_selective(void)
{
	return selective;
}
