/* SPDX-License-Identifier: MIT */
/*
 * bench_sync WHAT N: prints the cost of an operation in nanoseconds, as one number. WHAT:
 *   uncontended   a lock and unlock, in a process with a second thread (which sleeps)
 *   contended     the same, by two threads on one mutex at the same time
 *   apart, adjacent
 *                 the same, by two threads at the same time, each on a mutex of its own; on cache
 *                 lines of their own, or beside each other
 *   roaming       the same, each time on one of 4,096 mutexes of both, with some work in between
 *   crossed       two mutexes are locked, and unlocked in the same order
 *   semaphore, rdlock, wrlock, spin
 *                 post and wait; lock and unlock
 *   signal        raising a signal that is ignored
 *   barrier       two threads meet
 *   few, many     a lock and unlock of one of 1,000 or 1,000,000 mutexes, in random order
 *   threads       creating and joining a thread that locks once
 *   clock         uncontended, with two readings of the TSC beside the locked instructions
 *   contended_clock
 *                 as contended, with two readings of the TSC while the mutex is held
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static long n, counter;
static volatile unsigned long long sink;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *locks(void *arg)
{
	pthread_barrier_wait(&barrier);
	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		counter++;
		pthread_mutex_unlock(&mutex);
	}
	pthread_barrier_wait(&barrier);
	return arg;
}

/* Recording must read the clock after the lock and before the unlock. */
static void lock_and_read(void)
{
	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		sink = __rdtsc();
		counter++;
		sink = __rdtsc();
		pthread_mutex_unlock(&mutex);
	}
}

static void *locks_and_reads(void *arg)
{
	pthread_barrier_wait(&barrier);
	lock_and_read();
	pthread_barrier_wait(&barrier);
	return arg;
}

static void *sleeps(void *arg)
{
	pthread_barrier_wait(&barrier);
	return arg;
}

static void *once(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return arg;
}

/* A second thread sleeps: in a process with one thread, libc omits the locked instructions. */
#define BESIDE_SLEEPER(name, ...)                                                                  \
	static double name(void)                                                                   \
	{                                                                                          \
		pthread_t sleeper;                                                                 \
		double start;                                                                      \
                                                                                                   \
		pthread_barrier_init(&barrier, NULL, 2);                                           \
		pthread_create(&sleeper, NULL, sleeps, NULL);                                      \
		start = now_ns();                                                                  \
		for (long i = 0; i < n; i++) {                                                     \
			__VA_ARGS__;                                                               \
		}                                                                                  \
		start = now_ns() - start;                                                          \
		pthread_barrier_wait(&barrier);                                                    \
		pthread_join(sleeper, NULL);                                                       \
		return start / (double)n;                                                          \
	}

#define MANY 1000000
static sem_t sem;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static pthread_mutex_t mutexes[MANY];
static uint32_t chosen;

/* The generator of Numerical Recipes: any order will do. */
static pthread_mutex_t *one_of(uint32_t n_mutexes)
{
	chosen = chosen * 1664525 + 1013904223;
	return &mutexes[(uint64_t)chosen * n_mutexes >> 32];
}

static void lock_one_of(uint32_t n_mutexes)
{
	pthread_mutex_t *one = one_of(n_mutexes);

	pthread_mutex_lock(one);
	counter++;
	pthread_mutex_unlock(one);
}

BESIDE_SLEEPER(uncontended, pthread_mutex_lock(&mutex); counter++; pthread_mutex_unlock(&mutex))
BESIDE_SLEEPER(semaphore, sem_post(&sem); sem_wait(&sem))
BESIDE_SLEEPER(rdlock, pthread_rwlock_rdlock(&rwlock); pthread_rwlock_unlock(&rwlock))
BESIDE_SLEEPER(wrlock, pthread_rwlock_wrlock(&rwlock); pthread_rwlock_unlock(&rwlock))
BESIDE_SLEEPER(spin, pthread_spin_lock(&spinlock); pthread_spin_unlock(&spinlock))
BESIDE_SLEEPER(signals, raise(SIGURG))
BESIDE_SLEEPER(crossed, pthread_mutex_lock(&mutexes[0]); pthread_mutex_lock(&mutexes[1]);
	       pthread_mutex_unlock(&mutexes[0]); pthread_mutex_unlock(&mutexes[1]))
BESIDE_SLEEPER(few, lock_one_of(1000))
BESIDE_SLEEPER(many, lock_one_of(MANY))

static void *meets(void *arg)
{
	for (long i = 0; i < n; i++)
		pthread_barrier_wait(&barrier);
	return arg;
}

static double barriers(void)
{
	pthread_t other;
	double start;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&other, NULL, meets, NULL);
	start = now_ns();
	meets(NULL);
	start = now_ns() - start;
	pthread_join(other, NULL);
	return start / (double)n;
}

static double by_two(void *(*run)(void *))
{
	pthread_t threads[2];
	double start;

	pthread_barrier_init(&barrier, NULL, 3);
	for (intptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	pthread_barrier_wait(&barrier);
	start = now_ns();
	pthread_barrier_wait(&barrier);
	start = now_ns() - start;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return start / (double)n / 2;
}

static double contended(void)
{
	return by_two(locks);
}

static long distance;

/* arg: the number of the thread. */
static void *locks_own(void *arg)
{
	pthread_mutex_t *own = &mutexes[(intptr_t)arg * distance];

	pthread_barrier_wait(&barrier);
	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(own);
		pthread_mutex_unlock(own);
	}
	pthread_barrier_wait(&barrier);
	return arg;
}

/* Each thread's own time for a pair: the two run at the same time. */
static double apart(void)
{
	distance = 64;
	return by_two(locks_own) * 2;
}

/* The mutex was often last locked by the other thread, and is hardly ever taken. */
static void *locks_any(void *arg)
{
	uint32_t random = (uint32_t)(intptr_t)arg + 1;

	pthread_barrier_wait(&barrier);
	for (long i = 0; i < n; i++) {
		random = random * 1664525 + 1013904223;
		pthread_mutex_lock(&mutexes[random >> 20]);
		pthread_mutex_unlock(&mutexes[random >> 20]);
		for (int k = 0; k < 200; k++)
			__asm__ volatile("");
	}
	pthread_barrier_wait(&barrier);
	return arg;
}

static double roaming(void)
{
	return by_two(locks_any) * 2;
}

static double adjacent(void)
{
	distance = 1;
	return by_two(locks_own) * 2;
}

static double contended_clock(void)
{
	return by_two(locks_and_reads);
}

static double threads(void)
{
	double start = now_ns();

	for (long i = 0; i < n; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, once, NULL);
		pthread_join(thread, NULL);
	}
	return (now_ns() - start) / (double)n;
}

static double clock_beside(void)
{
	double bare = uncontended(), start = now_ns();
	pthread_t sleeper;

	pthread_create(&sleeper, NULL, sleeps, NULL);
	start = now_ns();
	lock_and_read();
	start = now_ns() - start;
	pthread_barrier_wait(&barrier);
	pthread_join(sleeper, NULL);
	return start / (double)n - bare;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		double (*run)(void);
	} benches[] = {
	    {"uncontended", uncontended},
	    {"contended", contended},
	    {"apart", apart},
	    {"adjacent", adjacent},
	    {"roaming", roaming},
	    {"crossed", crossed},
	    {"semaphore", semaphore},
	    {"rdlock", rdlock},
	    {"wrlock", wrlock},
	    {"spin", spin},
	    {"signal", signals},
	    {"barrier", barriers},
	    {"few", few},
	    {"many", many},
	    {"threads", threads},
	    {"clock", clock_beside},
	    {"contended_clock", contended_clock},
	};

	n = argc > 2 ? atol(argv[2]) : 0;
	pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
	memset(mutexes, 0,
	       sizeof(mutexes)); /* like PTHREAD_MUTEX_INITIALIZER; makes the pages resident */
	for (unsigned i = 0; n > 0 && i < sizeof(benches) / sizeof(benches[0]); i++)
		if (strcmp(argv[1], benches[i].name) == 0)
			return printf("%.2f\n", benches[i].run()) < 0;
	return 2;
}
