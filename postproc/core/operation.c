/* SPDX-License-Identifier: MIT */
/* See operation.h.  A test compares the table with the list in the wire contract. */
#include "core/operation.h"

#include <errno.h>

#include <glib.h>

#define DEFINES	    PP_SYNC_DEFINES
#define BEGIN	    PP_SYNC_BEGIN
#define BLOCKS	    PP_SYNC_BLOCKS
#define SPINS	    PP_SYNC_SPINS
#define TRIES	    PP_SYNC_TRIES
#define TIMED	    PP_SYNC_TIMED
#define ACQUIRES    PP_SYNC_ACQUIRES
#define SHARED	    PP_SYNC_SHARED
#define ROBUST	    PP_SYNC_ROBUST
#define RELEASES    PP_SYNC_RELEASES
#define WAKES	    PP_SYNC_WAKES
#define PASSES	    PP_SYNC_PASSES
#define YIELDS	    PP_SYNC_YIELDS
#define INITIALIZES PP_SYNC_INITIALIZES
#define DESTROYS    PP_SYNC_DESTROYS
#define RAISES	    PP_SYNC_RAISES

#define ROW(name, type, function, traits)                                                          \
	[ST_EVENT_##name] = {#name, function, traits, GM_SYNC_TYPE_##type}

const struct pp_sync_row pp_sync_rows[ST_N_EVENTS + 1] = {
    [ST_EVENT_site] = {"site", NULL, DEFINES, PP_N_SYNC_TYPES},
    ROW(mutex_init, mutex, "pthread_mutex_init", INITIALIZES),
    ROW(mutex_destroy, mutex, "pthread_mutex_destroy", DESTROYS),
    ROW(mutex_lock_begin, mutex, "pthread_mutex_lock", BEGIN),
    ROW(mutex_lock, mutex, "pthread_mutex_lock", BLOCKS | ACQUIRES | ROBUST),
    ROW(mutex_trylock, mutex, "pthread_mutex_trylock", TRIES | ACQUIRES | ROBUST),
    ROW(mutex_timedlock_begin, mutex, "pthread_mutex_timedlock", BEGIN),
    ROW(mutex_timedlock, mutex, "pthread_mutex_timedlock", BLOCKS | TIMED | ACQUIRES | ROBUST),
    ROW(mutex_unlock, mutex, "pthread_mutex_unlock", RELEASES),
    ROW(cond_init, cond, "pthread_cond_init", INITIALIZES),
    ROW(cond_destroy, cond, "pthread_cond_destroy", DESTROYS),
    ROW(cond_wait_begin, cond, "pthread_cond_wait", BEGIN),
    ROW(cond_wait, cond, "pthread_cond_wait", BLOCKS | ACQUIRES | ROBUST | YIELDS),
    ROW(cond_timedwait_begin, cond, "pthread_cond_timedwait", BEGIN),
    ROW(cond_timedwait, cond, "pthread_cond_timedwait",
	BLOCKS | TIMED | ACQUIRES | ROBUST | YIELDS),
    ROW(cond_signal, cond, "pthread_cond_signal", WAKES),
    ROW(cond_broadcast, cond, "pthread_cond_broadcast", WAKES),
    ROW(sem_init, sem, "sem_init", INITIALIZES),
    ROW(sem_open, sem, "sem_open", 0),
    ROW(sem_destroy, sem, "sem_destroy", DESTROYS),
    ROW(sem_close, sem, "sem_close", 0),
    ROW(sem_wait_begin, sem, "sem_wait", BEGIN),
    ROW(sem_wait, sem, "sem_wait", BLOCKS | ACQUIRES),
    ROW(sem_trywait, sem, "sem_trywait", TRIES | ACQUIRES),
    ROW(sem_timedwait_begin, sem, "sem_timedwait", BEGIN),
    ROW(sem_timedwait, sem, "sem_timedwait", BLOCKS | TIMED | ACQUIRES),
    ROW(sem_post, sem, "sem_post", WAKES),
    ROW(barrier_init, barrier, "pthread_barrier_init", INITIALIZES),
    ROW(barrier_destroy, barrier, "pthread_barrier_destroy", DESTROYS),
    ROW(barrier_wait_begin, barrier, "pthread_barrier_wait", BEGIN),
    ROW(barrier_wait, barrier, "pthread_barrier_wait", BLOCKS | ACQUIRES | PASSES),
    ROW(thread_create, thread, "pthread_create", 0),
    ROW(thread_start, thread, NULL, 0),
    ROW(thread_exit, thread, NULL, 0),
    ROW(thread_join_begin, thread, "pthread_join", BEGIN),
    ROW(thread_join, thread, "pthread_join", BLOCKS | ACQUIRES),
    ROW(thread_detach, thread, "pthread_detach", 0),
    ROW(rwlock_init, rwlock, "pthread_rwlock_init", INITIALIZES),
    ROW(rwlock_destroy, rwlock, "pthread_rwlock_destroy", DESTROYS),
    ROW(rwlock_rdlock_begin, rwlock, "pthread_rwlock_rdlock", BEGIN),
    ROW(rwlock_rdlock, rwlock, "pthread_rwlock_rdlock", BLOCKS | ACQUIRES | SHARED),
    ROW(rwlock_tryrdlock, rwlock, "pthread_rwlock_tryrdlock", TRIES | ACQUIRES | SHARED),
    ROW(rwlock_timedrdlock_begin, rwlock, "pthread_rwlock_timedrdlock", BEGIN),
    ROW(rwlock_timedrdlock, rwlock, "pthread_rwlock_timedrdlock",
	BLOCKS | TIMED | ACQUIRES | SHARED),
    ROW(rwlock_wrlock_begin, rwlock, "pthread_rwlock_wrlock", BEGIN),
    ROW(rwlock_wrlock, rwlock, "pthread_rwlock_wrlock", BLOCKS | ACQUIRES),
    ROW(rwlock_trywrlock, rwlock, "pthread_rwlock_trywrlock", TRIES | ACQUIRES),
    ROW(rwlock_timedwrlock_begin, rwlock, "pthread_rwlock_timedwrlock", BEGIN),
    ROW(rwlock_timedwrlock, rwlock, "pthread_rwlock_timedwrlock", BLOCKS | TIMED | ACQUIRES),
    ROW(rwlock_unlock, rwlock, "pthread_rwlock_unlock", RELEASES),
    ROW(spin_init, spin, "pthread_spin_init", INITIALIZES),
    ROW(spin_destroy, spin, "pthread_spin_destroy", DESTROYS),
    ROW(spin_lock_begin, spin, "pthread_spin_lock", BEGIN),
    ROW(spin_lock, spin, "pthread_spin_lock", BLOCKS | SPINS | ACQUIRES),
    ROW(spin_trylock, spin, "pthread_spin_trylock", TRIES | ACQUIRES),
    ROW(spin_unlock, spin, "pthread_spin_unlock", RELEASES),
    ROW(once_begin, once, "pthread_once", BEGIN),
    ROW(once, once, "pthread_once", BLOCKS | ACQUIRES | PASSES),
    ROW(signal_kill, signal, "kill", RAISES),
    ROW(signal_killpg, signal, "killpg", RAISES),
    ROW(signal_tgkill, signal, "tgkill", RAISES),
    ROW(signal_raise, signal, "raise", RAISES),
    ROW(signal_sigqueue, signal, "sigqueue", RAISES),
    ROW(signal_failed, signal, NULL, 0),
    ROW(thread_kill, thread, "pthread_kill", RAISES),
    ROW(thread_sigqueue, thread, "pthread_sigqueue", RAISES),
    ROW(thread_cancel, thread, "pthread_cancel", 0),
    ROW(thread_failed, thread, NULL, 0),
    [ST_EVENT_call_path] = {"call_path", NULL, DEFINES, PP_N_SYNC_TYPES},
    [ST_EVENT_path] = {"path", NULL, DEFINES, PP_N_SYNC_TYPES},
    [ST_EVENT_tries] = {"tries", NULL, DEFINES, PP_N_SYNC_TYPES},
    ROW(mutex_critical_begin, mutex, "GOMP_critical_start", BEGIN),
    ROW(mutex_critical, mutex, "GOMP_critical_start", BLOCKS | ACQUIRES),
    ROW(mutex_critical_end, mutex, "GOMP_critical_end", RELEASES),
    ROW(mutex_omp_init, mutex, "omp_init_lock", INITIALIZES),
    ROW(mutex_omp_destroy, mutex, "omp_destroy_lock", DESTROYS),
    ROW(mutex_omp_lock_begin, mutex, "omp_set_lock", BEGIN),
    ROW(mutex_omp_lock, mutex, "omp_set_lock", BLOCKS | ACQUIRES),
    ROW(mutex_omp_trylock, mutex, "omp_test_lock", TRIES | ACQUIRES),
    ROW(mutex_omp_unlock, mutex, "omp_unset_lock", RELEASES),
    ROW(barrier_team_begin, barrier, "GOMP_barrier", BEGIN),
    ROW(barrier_team, barrier, "GOMP_barrier", BLOCKS | ACQUIRES),
    ROW(barrier_join_begin, barrier, "GOMP_parallel_end", BEGIN),
    ROW(barrier_join, barrier, "GOMP_parallel_end", BLOCKS | ACQUIRES | PASSES),
    ROW(barrier_tasks_begin, barrier, "GOMP_taskwait", BEGIN),
    ROW(barrier_tasks, barrier, "GOMP_taskwait", BLOCKS | ACQUIRES),
    ROW(thread_region, thread, "GOMP_parallel", WAKES),
    ROW(thread_idle_begin, thread, "GOMP_parallel (idle)", BEGIN),
    ROW(thread_idle, thread, "GOMP_parallel (idle)", BLOCKS | ACQUIRES),
    [ST_EVENT_io_call] = {"io_call", NULL, DEFINES, PP_N_SYNC_TYPES},
    ROW(mutex_consistent, mutex, "pthread_mutex_consistent", 0),
    [ST_EVENT_conditionals] = {"conditionals", NULL, DEFINES, PP_N_SYNC_TYPES},
    [ST_EVENT_order] = {"order", NULL, DEFINES, PP_N_SYNC_TYPES},
    [ST_N_EVENTS] = {"unknown", NULL, 0, PP_N_SYNC_TYPES},
};

bool pp_sync_acquired(enum st_event op, uint8_t result)
{
	if (!pp_sync_has(op, PP_SYNC_ACQUIRES))
		return false;
	switch (result) {
	case 0:
		return true;
	case EOWNERDEAD:
		return pp_sync_has(op, PP_SYNC_ROBUST);
	case ETIMEDOUT: /* the mutex is owned again */
		return pp_sync_has(op, PP_SYNC_YIELDS);
	case ST_RESULT_SERIAL_THREAD:
		return pp_sync_type(op) == GM_SYNC_TYPE_barrier;
	default:
		return false;
	}
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

const char *pp_sync_type_name(enum gm_sync_type type)
{
	static const char *const names[] = {
#define TYPE_NAME(name) #name,
	    GM_SYNC_TYPES(TYPE_NAME)
#undef TYPE_NAME
	};

	return (unsigned)type < PP_N_SYNC_TYPES ? names[type] : "unknown";
}

char *pp_sync_types_text(unsigned bits)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < PP_N_SYNC_TYPES; i++)
		if (bits >> i & 1)
			g_string_append_printf(text, "%s%s", text->len ? ", " : "",
					       pp_sync_type_name(i));
	return g_string_free(text, text->len == 0);
}
