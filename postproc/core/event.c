/* SPDX-License-Identifier: MIT */
/*
 * Names of synch-events, all derived from the list in the wire contract.  The one thing the list
 * does not say, which operations can wait, stands in WAITS below; a test holds the two together.
 */
#include "core/event.h"

#include <string.h>

#include "gmon-mt/format.h"

#define WAITS(X)                                                                                   \
	X(mutex_lock)                                                                              \
	X(mutex_timedlock)                                                                         \
	X(cond_wait)                                                                               \
	X(cond_timedwait)                                                                          \
	X(sem_wait)                                                                                \
	X(sem_timedwait)                                                                           \
	X(barrier_wait)                                                                            \
	X(thread_join)                                                                             \
	X(rwlock_rdlock)                                                                           \
	X(rwlock_timedrdlock)                                                                      \
	X(rwlock_wrlock)                                                                           \
	X(rwlock_timedwrlock)                                                                      \
	X(spin_lock)                                                                               \
	X(once)

/* + 1: 0 means none. */
static const uint8_t completion_of[ST_N_EVENTS] = {
#define COMPLETION(name) [ST_EVENT_##name##_begin] = ST_EVENT_##name + 1,
    WAITS(COMPLETION)
#undef COMPLETION
};

static const uint8_t begin_of[ST_N_EVENTS] = {
#define BEGIN(name) [ST_EVENT_##name] = ST_EVENT_##name##_begin + 1,
    WAITS(BEGIN)
#undef BEGIN
};

/* Every name behind "pthread_", so that one string serves "pthread_x", and "x" at offset 8. */
#define PREFIX	   "pthread_"
#define PREFIX_LEN (sizeof(PREFIX) - 1)
static const char *const prefixed[ST_N_EVENTS] = {
#define NAME(name, shape) PREFIX #name,
    ST_EVENTS(NAME)
#undef NAME
};

/* "pthread_create", from the event's "thread_create". */
static const char *const thread_functions[ST_N_EVENTS] = {
#define NAME(name, shape) "p" #name,
    ST_EVENTS(NAME)
#undef NAME
};

#define SIGNAL "signal_"

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

const char *pp_sync_name(enum st_event op)
{
	return op < ST_N_EVENTS ? prefixed[op] + PREFIX_LEN : "unknown";
}

static const char *find_function(enum st_event op)
{
	if (op == ST_EVENT_site || op == ST_EVENT_path || op == ST_EVENT_call_path ||
	    op == ST_EVENT_thread_start || op == ST_EVENT_thread_exit ||
	    op == ST_EVENT_thread_failed || op == ST_EVENT_signal_failed)
		return NULL;
	if (completion_of[op])
		op = completion_of[op] - 1;
	if (starts_with(pp_sync_name(op), "thread_"))
		return thread_functions[op];
	if (starts_with(pp_sync_name(op), SIGNAL))
		return pp_sync_name(op) + strlen(SIGNAL);
	return starts_with(pp_sync_name(op), "sem_") ? pp_sync_name(op) : prefixed[op];
}

/* Asked for every event: found once, or by several threads the same. */
static const char *find_once(const char **found, const char *(*find)(enum st_event op),
			     enum st_event op)
{
	const char *text = __atomic_load_n(found, __ATOMIC_RELAXED);

	if (!text) {
		text = find(op);
		__atomic_store_n(found, text, __ATOMIC_RELAXED);
	}
	return text;
}

const char *pp_sync_function(enum st_event op)
{
	static const char *function_of[ST_N_EVENTS];

	return op < ST_N_EVENTS ? find_once(&function_of[op], find_function, op) : NULL;
}

enum st_event pp_sync_completion(enum st_event op)
{
	return op < ST_N_EVENTS && completion_of[op] ? completion_of[op] - 1u : ST_N_EVENTS;
}

enum st_event pp_sync_begin(enum st_event op)
{
	return op < ST_N_EVENTS && begin_of[op] ? begin_of[op] - 1u : ST_N_EVENTS;
}

enum st_event pp_sync_counted(enum st_counted counted)
{
	static const uint8_t events[ST_N_COUNTED] = {
#define COUNTED(name) [ST_COUNTED_##name] = ST_EVENT_##name,
	    ST_COUNTED_EVENTS(COUNTED)
#undef COUNTED
	};

	return counted < ST_N_COUNTED ? events[counted] : ST_N_EVENTS;
}

#define TYPE_NAME(name) #name,
static const char *const types[] = {GM_SYNC_TYPES(TYPE_NAME)};
#undef TYPE_NAME

bool pp_sync_type_is_in(const char *type, unsigned bits)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(types); i++)
		if (strcmp(types[i], type) == 0)
			return bits >> i & 1;
	return false;
}

char *pp_sync_types_text(unsigned bits)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < G_N_ELEMENTS(types); i++)
		if (bits >> i & 1)
			g_string_append_printf(text, "%s%s", text->len ? ", " : "", types[i]);
	return g_string_free(text, text->len == 0);
}

static const char *find_type(enum st_event op)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(types); i++)
		if (starts_with(pp_sync_name(op), types[i]))
			return types[i];
	return "unknown";
}

const char *pp_sync_type(enum st_event op)
{
	static const char *type_of[ST_N_EVENTS + 1];

	return find_once(&type_of[MIN(op, ST_N_EVENTS)], find_type, op);
}
