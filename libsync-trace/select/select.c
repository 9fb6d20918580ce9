/* SPDX-License-Identifier: MIT */
/*
 * Selects what is recorded: [sync] types, and include and exclude (filter.c).
 *
 * The decision is made once for each event, when the process is opened, and if it depends on the
 * object, for each operation. The check by the first operation of a child of a bare clone() comes
 * too early; but a writer without a stream sends every event to st_emit(), which checks again.
 */
#include "record/internal.h"
#include "runtime/process/process.h"
#include "runtime/sys/sys.h"

#define MUTEX  (1u << GM_SYNC_TYPE_mutex)
#define COND   (1u << GM_SYNC_TYPE_cond)
#define SIGNAL (1u << GM_SYNC_TYPE_signal)

/* Types that belong to a module: all except threads and signals. */
#define OBJECTS (~((1u << GM_SYNC_TYPE_thread) | SIGNAL))

/* The effect of an event on its object. */
enum effect { EFFECT_OTHER = 0, EFFECT_MAKES, EFFECT_ENDS };
static uint8_t effects[ST_N_EVENTS];

static bool selective, picking, filtering;

static bool starts_with(const char *name, const char *prefix)
{
	while (*prefix != '\0' && *name == *prefix) {
		name++;
		prefix++;
	}
	return *prefix == '\0';
}

/* Returns the types any of which selects the event; 0: it is always recorded. */
static uint32_t types_of(enum st_event id, const char *name)
{
#define TYPE_NAME(type) #type,
	static const char *const types[] = {GM_SYNC_TYPES(TYPE_NAME)};
#undef TYPE_NAME

	switch (id) {
	case ST_EVENT_thread_start:
	case ST_EVENT_thread_exit:
		return 0; /* they show which thread the packets belong to */
	case ST_EVENT_cond_wait_begin:
	case ST_EVENT_cond_wait:
	case ST_EVENT_cond_timedwait_begin:
	case ST_EVENT_cond_timedwait:
		return COND | MUTEX; /* the mutex is released and taken again */
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

static bool ends_with(const char *name, const char *suffix)
{
	size_t n = gm_strlen(name), n_suffix = gm_strlen(suffix);

	return n >= n_suffix && gm_strcmp(name + n - n_suffix, suffix) == 0;
}

static enum effect effect_of(const char *name)
{
	if (ends_with(name, "_init"))
		return EFFECT_MAKES;
	return ends_with(name, "_destroy") || ends_with(name, "sem_close") ? EFFECT_ENDS
									   : EFFECT_OTHER;
}

void st_select(const struct gm_config *config, bool replays)
{
#define EVENT_NAME(name, shape) #name,
	static const char *const names[ST_N_EVENTS] = {ST_EVENTS(EVENT_NAME)};
#undef EVENT_NAME
	uint32_t types = (uint32_t)config->sync_types;

	filtering = st_filter_open(config);
	picking = filtering || replays;
	for (unsigned id = 0; id < ST_N_EVENTS; id++) {
		uint32_t any = types_of(id, names[id]);
		uint8_t fate = ST_RECORDED;

		if (any != 0 && (types & any) == 0)
			fate = ST_SKIPPED;
		else if (filtering && (any & OBJECTS) != 0)
			fate = ST_BY_OBJECT;
		picking |= fate != ST_RECORDED;
		effects[id] = (uint8_t)effect_of(names[id]);
		__atomic_store_n(&st_fates[id], fate, __ATOMIC_RELAXED);
	}
	selective = picking || config->sync_mode == GM_SYNC_CONTENDED;
	gm_process_set_sync_types_off(~types & ((1u << GM_N_SYNC_TYPES) - 1));
}

bool st_is_selective(void)
{
	return selective;
}

bool st_is_picking(void)
{
	return picking;
}

bool st_is_filtering(void)
{
	return filtering;
}

void st_select_before(enum st_event id, const void *object)
{
	if (filtering && effects[id] == EFFECT_MAKES)
		st_filter_forget(object);
}

void st_select_after(enum st_event id, const void *object)
{
	if (filtering && effects[id] == EFFECT_ENDS)
		st_filter_forget(object);
}
