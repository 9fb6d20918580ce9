/* SPDX-License-Identifier: MIT */
/* See waits.h.  One wait is going on at a time. */
#define _GNU_SOURCE
#include "waits.h"

#include <fcntl.h>
#include <stdatomic.h>

/* --- mutexes -------------------------------------------------------------------------------- */

static pthread_mutex_t mutex;

/* Variants: a mutex type, and these. */
#define ROBUST	 16
#define INHERITS 32
#define SHARED	 64

static void mutex_make(int variant)
{
	make_mutex(&mutex, variant & 15, (variant & ROBUST) != 0,
		   (variant & INHERITS) != 0 ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE,
		   (variant & SHARED) != 0);
}

static void mutex_hold(int variant)
{
	mutex_make(variant);
	CALL(pthread_mutex_lock(&mutex));
}

static void mutex_let_go(void)
{
	CALL(pthread_mutex_unlock(&mutex));
}

static int mutex_leave(void)
{
	return pthread_mutex_unlock(&mutex);
}

static const struct object a_mutex = {mutex_hold,   mutex_make,	 NULL,
				      mutex_let_go, mutex_leave, mutex_let_go};

/* --- conditions ------------------------------------------------------------------------------ */

static pthread_cond_t cond;

static void cond_hold(int variant)
{
	memset(&cond, 0, sizeof(cond));
	CALL(pthread_cond_init(&cond, NULL));
	mutex_make(variant);
}

static void cond_enter(void)
{
	pthread_mutex_lock(&mutex);
}

static void cond_let_go(void)
{
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_cond_signal(&cond));
	CALL(pthread_mutex_unlock(&mutex));
}

static const struct object a_cond = {cond_hold, NULL, cond_enter, cond_let_go, mutex_leave, NULL};

/* --- semaphores ------------------------------------------------------------------------------ */

static sem_t sem, *named;

static void sem_hold(int variant)
{
	CALL(sem_init(&sem, variant, 0));
}

static void sem_provide(int variant)
{
	CALL(sem_init(&sem, variant, 1));
}

static void sem_let_go(void)
{
	CALL(sem_post(&sem));
}

static const struct object a_sem = {sem_hold, sem_provide, NULL, sem_let_go, NULL, NULL};

static void named_make(unsigned value)
{
	char name[64];

	snprintf(name, sizeof(name), "/gprof-mt-wait.%d", getpid());
	named = sem_open(name, O_CREAT | O_EXCL, 0600, value);
	assert(named != SEM_FAILED);
	sem_unlink(name);
}

static void named_hold(int variant)
{
	named_make((unsigned)variant);
}

static void named_provide(int variant)
{
	named_make((unsigned)variant + 1);
}

static void named_let_go(void)
{
	CALL(sem_post(named));
}

static const struct object a_named = {named_hold, named_provide, NULL, named_let_go, NULL, NULL};

/* --- read-write locks ------------------------------------------------------------------------ */

static pthread_rwlock_t rwlock;

enum { FREE, READ, WRITTEN };

static void rwlock_make(int variant)
{
	(void)variant;
	memset(&rwlock, 0, sizeof(rwlock));
	CALL(pthread_rwlock_init(&rwlock, NULL));
}

static void rwlock_hold(int variant)
{
	rwlock_make(variant);
	if (variant == READ)
		CALL(pthread_rwlock_rdlock(&rwlock));
	else
		CALL(pthread_rwlock_wrlock(&rwlock));
}

static void rwlock_let_go(void)
{
	CALL(pthread_rwlock_unlock(&rwlock));
}

static int rwlock_leave(void)
{
	return pthread_rwlock_unlock(&rwlock);
}

static const struct object a_rwlock = {rwlock_hold,   rwlock_make,  NULL,
				       rwlock_let_go, rwlock_leave, NULL};

/* --- barriers -------------------------------------------------------------------------------- */

static pthread_barrier_t barrier;

static void barrier_hold(int variant)
{
	memset(&barrier, 0, sizeof(barrier));
	CALL(pthread_barrier_init(&barrier, NULL, (unsigned)variant));
}

static void barrier_provide(int variant)
{
	(void)variant;
	barrier_hold(1);
}

static void barrier_let_go(void)
{
	CALL(pthread_barrier_wait(&barrier));
}

static const struct object a_barrier = {barrier_hold, barrier_provide, NULL, barrier_let_go, NULL,
					NULL};

/* --- other threads: in a routine that is done once, or to be joined ----------------------------
 */

static pthread_once_t once;
static pthread_t thread;
static sem_t in_routine, leave;

static void routine(void)
{
	sem_post(&in_routine);
	while (sem_wait(&leave) != 0)
		;
}

static void no_routine(void)
{
}

static void *run_once(void *arg)
{
	pthread_once(&once, routine);
	return arg;
}

static void *run(void *arg)
{
	routine();
	return arg;
}

static void hold_by(void *(*what)(void *))
{
	once = (pthread_once_t)PTHREAD_ONCE_INIT;
	sem_init(&in_routine, 0, 0);
	sem_init(&leave, 0, 0);
	thread = start(what, (void *)21);
	while (sem_wait(&in_routine) != 0)
		;
}

static void once_hold(int variant)
{
	(void)variant;
	hold_by(run_once);
}

static void once_provide(int variant)
{
	(void)variant;
	once = (pthread_once_t)PTHREAD_ONCE_INIT;
}

static void once_let_go(void)
{
	sem_post(&leave);
	join(thread);
}

static const struct object a_once = {once_hold, once_provide, NULL, once_let_go, NULL, once_let_go};

static void thread_hold(int variant)
{
	(void)variant;
	hold_by(run);
}

static void thread_let_go(void)
{
	sem_post(&leave);
}

/* The joining thread was cancelled, so the thread can still be joined. */
static void thread_join_anyway(void)
{
	sem_post(&leave);
	SAY("joined after all: %ld", (long)join(thread));
}

static const struct object a_thread = {thread_hold,   NULL, NULL,
				       thread_let_go, NULL, thread_join_anyway};

/* --- all of them ----------------------------------------------------------------------------- */

static struct timespec real, monotonic;

static void set_deadlines(void)
{
	real = far_from_now(CLOCK_REALTIME);
	monotonic = far_from_now(CLOCK_MONOTONIC);
}

#define THRD(thread) ((thrd_t)(thread))
#define MTX	     ((mtx_t *)&mutex)
#define CND	     ((cnd_t *)&cond)
#define FLAG	     ((once_flag *)&once)

#define WAITS(X)                                                                                   \
	X(a_mutex, PTHREAD_MUTEX_NORMAL, false, pthread_mutex_lock(&mutex))                        \
	X(a_mutex, PTHREAD_MUTEX_RECURSIVE, false, pthread_mutex_lock(&mutex))                     \
	X(a_mutex, PTHREAD_MUTEX_ERRORCHECK, false, pthread_mutex_lock(&mutex))                    \
	X(a_mutex, PTHREAD_MUTEX_ADAPTIVE_NP, false, pthread_mutex_lock(&mutex))                   \
	X(a_mutex, PTHREAD_MUTEX_NORMAL | SHARED, false, pthread_mutex_lock(&mutex))               \
	X(a_mutex, PTHREAD_MUTEX_NORMAL | ROBUST, false, pthread_mutex_lock(&mutex))               \
	X(a_mutex, PTHREAD_MUTEX_ERRORCHECK | INHERITS, false, pthread_mutex_lock(&mutex))         \
	X(a_mutex, PTHREAD_MUTEX_RECURSIVE | ROBUST | INHERITS, false, pthread_mutex_lock(&mutex)) \
	X(a_mutex, PTHREAD_MUTEX_NORMAL, false, pthread_mutex_timedlock(&mutex, &real))            \
	X(a_mutex, PTHREAD_MUTEX_ERRORCHECK | ROBUST, false,                                       \
	  pthread_mutex_timedlock(&mutex, &real))                                                  \
	X(a_mutex, PTHREAD_MUTEX_NORMAL | INHERITS, false, pthread_mutex_timedlock(&mutex, &real)) \
	X(a_mutex, PTHREAD_MUTEX_NORMAL, false,                                                    \
	  pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &monotonic))                            \
	X(a_mutex, PTHREAD_MUTEX_RECURSIVE, false,                                                 \
	  pthread_mutex_clocklock(&mutex, CLOCK_REALTIME, &real))                                  \
	X(a_mutex, PTHREAD_MUTEX_NORMAL, false, mtx_lock(MTX))                                     \
	X(a_mutex, PTHREAD_MUTEX_RECURSIVE, false, mtx_timedlock(MTX, &real))                      \
	X(a_cond, PTHREAD_MUTEX_ERRORCHECK, true, pthread_cond_wait(&cond, &mutex))                \
	X(a_cond, PTHREAD_MUTEX_NORMAL, true, pthread_cond_wait(&cond, &mutex))                    \
	X(a_cond, PTHREAD_MUTEX_RECURSIVE | INHERITS, true, pthread_cond_wait(&cond, &mutex))      \
	X(a_cond, PTHREAD_MUTEX_ERRORCHECK | ROBUST, true, pthread_cond_wait(&cond, &mutex))       \
	X(a_cond, PTHREAD_MUTEX_ERRORCHECK, true, pthread_cond_timedwait(&cond, &mutex, &real))    \
	X(a_cond, PTHREAD_MUTEX_ERRORCHECK | ROBUST | INHERITS, true,                              \
	  pthread_cond_timedwait(&cond, &mutex, &real))                                            \
	X(a_cond, PTHREAD_MUTEX_ERRORCHECK, true,                                                  \
	  pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &monotonic))                      \
	X(a_cond, PTHREAD_MUTEX_NORMAL, true, cnd_wait(CND, MTX))                                  \
	X(a_cond, PTHREAD_MUTEX_RECURSIVE, true, cnd_timedwait(CND, MTX, &real))                   \
	X(a_sem, 0, true, sem_wait(&sem))                                                          \
	X(a_sem, 1, true, sem_wait(&sem))                                                          \
	X(a_sem, 0, true, sem_timedwait(&sem, &real))                                              \
	X(a_sem, 0, true, sem_clockwait(&sem, CLOCK_MONOTONIC, &monotonic))                        \
	X(a_sem, 0, true, sem_clockwait(&sem, CLOCK_REALTIME, &real))                              \
	X(a_named, 0, true, sem_wait(named))                                                       \
	X(a_rwlock, WRITTEN, false, pthread_rwlock_rdlock(&rwlock))                                \
	X(a_rwlock, WRITTEN, false, pthread_rwlock_timedrdlock(&rwlock, &real))                    \
	X(a_rwlock, WRITTEN, false,                                                                \
	  pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &monotonic))                        \
	X(a_rwlock, WRITTEN, false, pthread_rwlock_wrlock(&rwlock))                                \
	X(a_rwlock, READ, false, pthread_rwlock_wrlock(&rwlock))                                   \
	X(a_rwlock, READ, false, pthread_rwlock_timedwrlock(&rwlock, &real))                       \
	X(a_rwlock, WRITTEN, false,                                                                \
	  pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &monotonic))                        \
	X(a_barrier, 2, false, pthread_barrier_wait(&barrier))                                     \
	X(a_once, 0, false, pthread_once(&once, no_routine))                                       \
	X(a_once, 0, false, (call_once(FLAG, no_routine), 0))                                      \
	X(a_thread, 0, true, pthread_join(thread, NULL))                                           \
	X(a_thread, 0, true, pthread_timedjoin_np(thread, NULL, &real))                            \
	X(a_thread, 0, true, pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &monotonic))      \
	X(a_thread, 0, true, thrd_join(THRD(thread), NULL))

enum { FIRST = __COUNTER__ + 1 };

void wait_call(unsigned which, struct answer *answer)
{
	set_deadlines();
	switch (which) {
#define WAIT_CASE(object, variant, is_cancellation_point, call)                                    \
	case __COUNTER__ - FIRST:                                                                  \
		ASK(answer, call);                                                                 \
		break;
		WAITS(WAIT_CASE)
	default:
		abort();
	}
}

const struct wait waits[] = {
#define WAIT_ROW(object, variant, is_cancellation_point, call)                                     \
	{#call, &(object), variant, is_cancellation_point},
    WAITS(WAIT_ROW)};

const unsigned n_waits = sizeof(waits) / sizeof(waits[0]);
