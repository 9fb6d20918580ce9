/* SPDX-License-Identifier: MIT */
/*
 * What pthreads answer in the corners: prints a transcript that must be the same with and without
 * the library.  Nothing in it depends on time or addresses.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SAY(...)                                                                                   \
	do {                                                                                       \
		printf(__VA_ARGS__);                                                               \
		putchar('\n');                                                                     \
	} while (0)

/* The value of a call and what it left in errno. */
#define CALL(what)                                                                                 \
	do {                                                                                       \
		long value_;                                                                       \
		errno = 77;                                                                        \
		value_ = (long)(what);                                                             \
		SAY("%s = %ld, errno %d", #what, value_, errno);                                   \
	} while (0)

static const struct timespec past = {1, 0}, crooked = {1, 2000000000}, minus = {1, -1};

static pthread_t start(void *(*routine)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, routine, arg) != 0)
		abort();
	return thread;
}

static void *join(pthread_t thread)
{
	void *value;

	if (pthread_join(thread, &value) != 0)
		abort();
	return value;
}

/* --- mutexes ------------------------------------------------------------------------------- */

static pthread_mutex_t mutex;
static int unlocks;

static void make(int type, int robust, int protocol)
{
	pthread_mutexattr_t attributes;

	SAY("-- type %d robust %d protocol %d", type, robust, protocol);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, type);
	pthread_mutexattr_setrobust(&attributes, robust);
	pthread_mutexattr_setprotocol(&attributes, protocol);
	CALL(pthread_mutex_init(&mutex, &attributes));
	pthread_mutexattr_destroy(&attributes);
}

static void *other_tries(void *arg)
{
	CALL(pthread_mutex_trylock(&mutex));
	CALL(pthread_mutex_timedlock(&mutex, &past));
	CALL(pthread_mutex_timedlock(&mutex, &crooked));
	CALL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past));
	CALL(pthread_mutex_clocklock(&mutex, 4711, &past));
	CALL(pthread_mutex_unlock(&mutex));
	return arg;
}

static void *other_dies_owning(void *arg)
{
	CALL(pthread_mutex_lock(&mutex));
	return arg;
}

static void each_mutex(int type, int robust, int protocol)
{
	bool relocks = type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK;

	make(type, robust, protocol);
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_mutex_trylock(&mutex));
	if (relocks) {
		CALL(pthread_mutex_lock(&mutex));
		CALL(pthread_mutex_timedlock(&mutex, &past));
		CALL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past));
	} else {
		CALL(pthread_mutex_timedlock(&mutex, &past));
	}
	CALL(pthread_mutex_destroy(&mutex));
	if (type != PTHREAD_MUTEX_NORMAL && type != PTHREAD_MUTEX_ADAPTIVE_NP)
		join(start(other_tries, NULL));
	for (unlocks = 0; pthread_mutex_unlock(&mutex) == 0 && relocks; unlocks++)
		;
	SAY("unlocks %d", unlocks);
	CALL(pthread_mutex_timedlock(&mutex, &past));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_timedlock(&mutex, &crooked));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past));
	if (relocks)
		CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_clocklock(&mutex, 4711, &past));
	if (robust == PTHREAD_MUTEX_ROBUST) {
		make(type, robust, protocol);
		join(start(other_dies_owning, NULL));
		CALL(pthread_mutex_lock(&mutex));
		CALL(pthread_mutex_consistent(&mutex));
		CALL(pthread_mutex_unlock(&mutex));
		join(start(other_dies_owning, NULL));
		CALL(pthread_mutex_trylock(&mutex));
		CALL(pthread_mutex_unlock(&mutex));
		CALL(pthread_mutex_lock(&mutex));
		CALL(pthread_mutex_timedlock(&mutex, &past));
	}
}

static void mutexes(void)
{
	static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
				    PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP};

	for (int type = 0; type < 4; type++)
		for (int robust = 0; robust < 2; robust++)
			for (int protocol = 0; protocol < 3; protocol++)
				each_mutex(types[type], robust, protocol);
	memset(&mutex, 0x7e, sizeof(mutex));
	mutex.__data.__kind = 0x7f;
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_mutex_trylock(&mutex));
}

/* --- semaphores ---------------------------------------------------------------------------- */

static sem_t sem;

static void on_alarm(int signal)
{
	(void)signal;
}

static void semaphores(void)
{
	struct sigaction action = {.sa_handler = on_alarm};
	int count;

	SAY("-- semaphores");
	CALL(sem_init(&sem, 0, (unsigned)INT_MAX + 1));
	CALL(sem_init(&sem, 0, SEM_VALUE_MAX));
	CALL(sem_post(&sem));
	CALL(sem_init(&sem, 0, 6));
	CALL(sem_wait(&sem));
	CALL(sem_trywait(&sem));
	CALL(sem_timedwait(&sem, &past));
	CALL(sem_timedwait(&sem, &crooked));
	CALL(sem_timedwait(&sem, &minus));
	CALL(sem_clockwait(&sem, CLOCK_MONOTONIC, &past));
	CALL(sem_clockwait(&sem, 4711, &past));
	CALL(sem_clockwait(&sem, CLOCK_MONOTONIC, &crooked));
	sem_getvalue(&sem, &count);
	SAY("count %d", count);
	while (sem_trywait(&sem) == 0)
		;
	CALL(sem_trywait(&sem));
	CALL(sem_timedwait(&sem, &past));
	CALL(sem_timedwait(&sem, &crooked));
	CALL(sem_clockwait(&sem, CLOCK_MONOTONIC, &past));
	CALL(sem_clockwait(&sem, 4711, &past));
	sigaction(SIGALRM, &action, NULL);
	ualarm(1000, 1000);
	CALL(sem_wait(&sem)); /* EINTR */
	ualarm(0, 0);
	CALL((long)sem_open("no slash/inside", 0));
	CALL(sem_destroy(&sem));
}

/* --- read-write locks, spin locks, once ----------------------------------------------------- */

static pthread_rwlock_t rwlock;

static void *other_reads_and_writes(void *arg)
{
	CALL(pthread_rwlock_tryrdlock(&rwlock));
	CALL(pthread_rwlock_trywrlock(&rwlock));
	CALL(pthread_rwlock_timedwrlock(&rwlock, &past));
	CALL(pthread_rwlock_timedwrlock(&rwlock, &crooked));
	CALL(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &past));
	CALL(pthread_rwlock_clockwrlock(&rwlock, 4711, &past));
	return arg;
}

static void *other_cannot(void *arg)
{
	CALL(pthread_rwlock_tryrdlock(&rwlock));
	CALL(pthread_rwlock_trywrlock(&rwlock));
	CALL(pthread_rwlock_timedrdlock(&rwlock, &past));
	CALL(pthread_rwlock_timedrdlock(&rwlock, &minus));
	CALL(pthread_rwlock_clockrdlock(&rwlock, CLOCK_REALTIME, &past));
	CALL(pthread_rwlock_clockrdlock(&rwlock, 4711, &past));
	CALL(pthread_rwlock_timedwrlock(&rwlock, &past));
	return arg;
}

static void each_rwlock(int kind)
{
	pthread_rwlockattr_t attributes;

	SAY("-- read-write lock of kind %d", kind);
	pthread_rwlockattr_init(&attributes);
	CALL(pthread_rwlockattr_setkind_np(&attributes, kind));
	CALL(pthread_rwlock_init(&rwlock, &attributes));
	pthread_rwlockattr_destroy(&attributes);
	CALL(pthread_rwlock_rdlock(&rwlock));
	CALL(pthread_rwlock_rdlock(&rwlock));
	CALL(pthread_rwlock_trywrlock(&rwlock));
	CALL(pthread_rwlock_timedrdlock(&rwlock, &past));
	CALL(pthread_rwlock_timedrdlock(&rwlock, &crooked));
	CALL(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &past));
	CALL(pthread_rwlock_clockrdlock(&rwlock, 4711, &past));
	CALL(pthread_rwlock_unlock(&rwlock));
	join(start(other_reads_and_writes, NULL));
	CALL(pthread_rwlock_unlock(&rwlock));
	CALL(pthread_rwlock_unlock(&rwlock));
	CALL(pthread_rwlock_unlock(&rwlock));
	CALL(pthread_rwlock_unlock(&rwlock)); /* what the other thread read-locked */
	CALL(pthread_rwlock_wrlock(&rwlock));
	CALL(pthread_rwlock_rdlock(&rwlock)); /* EDEADLK, as for the next */
	CALL(pthread_rwlock_wrlock(&rwlock));
	CALL(pthread_rwlock_tryrdlock(&rwlock));
	CALL(pthread_rwlock_timedrdlock(&rwlock, &past));
	CALL(pthread_rwlock_timedwrlock(&rwlock, &past));
	join(start(other_cannot, NULL));
	CALL(pthread_rwlock_unlock(&rwlock));
	CALL(pthread_rwlock_timedwrlock(&rwlock, &past));
	CALL(pthread_rwlock_unlock(&rwlock));
	CALL(pthread_rwlock_destroy(&rwlock));
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int runs;

static void once_routine(void)
{
	runs++;
}

static void once_exits(void)
{
	if (runs++ == 1)
		pthread_exit((void *)8);
}

static void *once_thread(void *arg)
{
	CALL(pthread_once(&once, once_exits));
	return arg;
}

static void other_locks(void)
{
	pthread_spinlock_t spin;

	each_rwlock(PTHREAD_RWLOCK_PREFER_READER_NP);
	each_rwlock(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	SAY("-- spin lock");
	CALL(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
	CALL(pthread_spin_trylock(&spin));
	CALL(pthread_spin_trylock(&spin));
	CALL(pthread_spin_unlock(&spin));
	CALL(pthread_spin_lock(&spin));
	CALL(pthread_spin_unlock(&spin));
	CALL(pthread_spin_destroy(&spin));
	SAY("-- once");
	CALL(pthread_once(&once, once_routine));
	CALL(pthread_once(&once, once_routine));
	once = (pthread_once_t)PTHREAD_ONCE_INIT;
	SAY("value %ld", (long)join(start(once_thread, (void *)9))); /* leaves it undone */
	SAY("value %ld", (long)join(start(once_thread, (void *)9)));
	SAY("runs %d", runs);
}

/* --- conditions ---------------------------------------------------------------------------- */

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void conditions(void)
{
	SAY("-- conditions");
	make(PTHREAD_MUTEX_ERRORCHECK, 0, 0);
	CALL(pthread_cond_wait(&cond, &mutex)); /* not the owner */
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_cond_timedwait(&cond, &mutex, &past));
	CALL(pthread_cond_timedwait(&cond, &mutex, &crooked));
	CALL(pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &past));
	CALL(pthread_cond_clockwait(&cond, &mutex, 4711, &past));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_cond_signal(&cond));
	CALL(pthread_cond_broadcast(&cond));
	CALL(pthread_cond_destroy(&cond));
}

/* --- cancellation -------------------------------------------------------------------------- */

static sem_t ready, never;
static int cleanups;

static void cleanup(void *text)
{
	SAY("cleanup %s, unlock %d", (const char *)text, pthread_mutex_unlock(&mutex));
	cleanups++;
}

/* Cancelled before it waits, where it need not wait: a cancellation point all the same. */
static void *available(void *arg)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	sem_post(&never);
	pthread_mutex_lock(&mutex); /* is no cancellation point */
	pthread_mutex_unlock(&mutex);
	pthread_cleanup_push(cleanup, "of an available semaphore");
	pthread_mutex_lock(&mutex);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	pthread_mutex_trylock(&mutex);
	switch ((int)(long)arg) {
	case 0:
		sem_wait(&never);
		break;
	case 1:
		sem_timedwait(&never, &past);
		break;
	case 2:
		errno = 0;
		sem_timedwait(&never, &crooked);
		SAY("survived the crooked time, errno %d", errno);
		break;
	case 3:
		sem_clockwait(&never, CLOCK_MONOTONIC, &past);
		break;
	case 4:
		sem_trywait(&never);
		SAY("survived trywait");
		break;
	}
	pthread_cleanup_pop(1);
	return NULL;
}

static void *waits(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(cleanup, "of a wait");
	sem_post(&ready);
	switch ((int)(long)arg) {
	case 0:
		pthread_cond_wait(&cond, &mutex);
		break;
	case 1: {
		struct timespec late = {time(NULL) + 1000, 0};

		pthread_cond_timedwait(&cond, &mutex, &late);
		break;
	}
	case 2:
		sem_wait(&never);
		break;
	case 3:
		pthread_join((pthread_t)pthread_getspecific(0), NULL);
		break;
	}
	pthread_cleanup_pop(0);
	return NULL;
}

static void *exits(void *arg)
{
	pthread_cleanup_push(cleanup, "of pthread_exit");
	pthread_mutex_lock(&mutex);
	pthread_exit(arg);
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancellation(void)
{
	int count;

	SAY("-- cancellation");
	make(PTHREAD_MUTEX_ERRORCHECK, 0, 0);
	pthread_cond_init(&cond, NULL);
	sem_init(&never, 0, 0);
	sem_init(&ready, 0, 0);
	for (long i = 0; i < 5; i++) {
		void *value = join(start(available, (void *)i));

		sem_getvalue(&never, &count);
		SAY("available %ld: %s, count %d", i,
		    value == PTHREAD_CANCELED ? "cancelled" : "ran", count);
	}
	while (sem_trywait(&never) == 0)
		;
	for (long i = 0; i < 3; i++) {
		pthread_t thread = start(waits, (void *)i);

		sem_wait(&ready);
		if (i < 2) { /* in its wait once the mutex is free */
			pthread_mutex_lock(&mutex);
			pthread_mutex_unlock(&mutex);
		}
		pthread_cancel(thread);
		SAY("wait %ld: %s", i, join(thread) == PTHREAD_CANCELED ? "cancelled" : "ran");
	}
	SAY("exit value %ld, cleanups %d", (long)join(start(exits, (void *)5)), cleanups);
}

/* --- threads ------------------------------------------------------------------------------- */

static void *depth(void *arg)
{
	void *frames[32];

	(void)arg;
	return (void *)(long)backtrace(frames, 32);
}

static char stack_text[80]; /* the creator says it: two threads' lines would come in any order */

static void *stack(void *arg)
{
	pthread_attr_t attributes;
	size_t size_bytes, guard_bytes;
	void *low;
	char *here = (char *)&low;

	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &low, &size_bytes);
	pthread_attr_getguardsize(&attributes, &guard_bytes);
	pthread_attr_destroy(&attributes);
	snprintf(stack_text, sizeof(stack_text), "stack %zu, guard %zu, inside %d", size_bytes,
		 guard_bytes, here > (char *)low && here < (char *)low + size_bytes);
	return arg;
}

static void *small(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	sem_post(&ready);
	return arg;
}

static pthread_barrier_t pair;

static void *at_barrier(void *arg)
{
	int result = pthread_barrier_wait(&pair);

	return (void *)(long)(result == PTHREAD_BARRIER_SERIAL_THREAD ? 1 : result == 0 ? 0 : 100);
	(void)arg;
}

static void *joins_itself(void *arg)
{
	CALL(pthread_join(pthread_self(), NULL));
	CALL(pthread_tryjoin_np(pthread_self(), NULL));
	return arg;
}

static void *nothing(void *arg)
{
	return arg;
}

static void threads(void)
{
	pthread_attr_t attributes;
	pthread_t thread, another;
	long serial;

	SAY("-- threads");
	SAY("frames %ld", (long)join(start(depth, NULL)));
	pthread_attr_init(&attributes);
	CALL(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN));
	CALL(pthread_create(&thread, &attributes, small, (void *)9));
	SAY("value %ld", (long)join(thread));
	CALL(pthread_attr_setstacksize(&attributes, 256 * 1024));
	CALL(pthread_create(&thread, &attributes, stack, NULL));
	join(thread);
	SAY("%s", stack_text);
	CALL(pthread_attr_setstacksize(&attributes, (size_t)1 << 50));
	CALL(pthread_create(&thread, &attributes, stack, NULL)); /* no memory */
	join(start(joins_itself, NULL));
	thread = start(nothing, NULL);
	while (pthread_tryjoin_np(thread, NULL) == EBUSY)
		;
	CALL(pthread_barrier_init(&pair, NULL, 0));
	CALL(pthread_barrier_init(&pair, NULL, 2));
	for (int i = 0; i < 3; i++) {
		thread = start(at_barrier, NULL);
		another = start(at_barrier, NULL);
		serial = (long)join(thread) + (long)join(another);
		SAY("serial threads %ld", serial);
	}
	CALL(pthread_barrier_destroy(&pair));
}

int main(int argc, char **argv)
{
	void *frames[4];

	(void)argc;
	(void)argv;
	backtrace(frames, 4); /* loads libgcc_s now, in both cases */
	mutexes();
	semaphores();
	other_locks();
	conditions();
	cancellation();
	threads();
	return 17;
}
