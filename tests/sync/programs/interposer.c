/* SPDX-License-Identifier: MIT */
/*
 * With -DLIBRARY, a library between the program and libc, as sanitizers are: unversioned
 * definitions that count calls. Otherwise the program: four threads, and each call that could be
 * mistaken for another.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

#define N_THREADS 4
#define N_LOCKS	  1000

void between_print(void);

#ifdef LIBRARY

/* Each is called as often as the program calls it. */
#define COUNTED(X)                                                                                 \
	X(int, pthread_create,                                                                     \
	  (pthread_t * thread, const pthread_attr_t *attributes, void *(*routine)(void *),         \
	   void *arg),                                                                             \
	  (thread, attributes, routine, arg))                                                      \
	X(int, pthread_join, (pthread_t thread, void **value), (thread, value))                    \
	X(int, pthread_tryjoin_np, (pthread_t thread, void **value), (thread, value))              \
	X(int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))                             \
	X(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))                          \
	X(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const struct timespec *when),    \
	  (mutex, when))                                                                           \
	X(int, pthread_mutex_unlock, (pthread_mutex_t * mutex), (mutex))                           \
	X(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))                           \
	X(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))                           \
	X(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock))                        \
	X(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock))                        \
	X(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock), (lock))                           \
	X(int, pthread_spin_lock, (pthread_spinlock_t * lock), (lock))                             \
	X(int, pthread_spin_trylock, (pthread_spinlock_t * lock), (lock))                          \
	X(int, sem_wait, (sem_t * sem), (sem))                                                     \
	X(int, sem_trywait, (sem_t * sem), (sem))                                                  \
	X(int, pthread_once, (pthread_once_t * once, void (*routine)(void)), (once, routine))

enum {
#define COUNT_NAME(type, name, parameters, arguments) N_##name,
	COUNTED(COUNT_NAME) N_COUNTED
};

static int counts[N_COUNTED];

#define DEFINITION(type, name, parameters, arguments)                                              \
	type name parameters                                                                       \
	{                                                                                          \
		type(*real) parameters = (type(*) parameters)dlsym(RTLD_NEXT, #name);              \
                                                                                                   \
		__atomic_fetch_add(&counts[N_##name], 1, __ATOMIC_RELAXED);                        \
		return real arguments;                                                             \
	}
COUNTED(DEFINITION)

void between_print(void)
{
#define PRINT(type, name, parameters, arguments) printf(#name " %d\n", counts[N_##name]);
	COUNTED(PRINT)
}

#else

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, timed = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spin;
static mtx_t c11_mutex;
static sem_t sem, posted;
static int total, runs;

static void *work(void *arg)
{
	for (int i = 0; i < N_LOCKS; i++) {
		pthread_mutex_lock(&mutex);
		total++;
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

static void routine(void)
{
	runs++;
}

static void *post(void *arg)
{
	sem_wait(&sem);
	sem_post(&posted);
	return arg;
}

/* Free and taken objects. */
static void others(void)
{
	struct timespec past = {1, 0};
	pthread_t thread;

	pthread_mutex_timedlock(&timed, &past);
	pthread_mutex_trylock(&timed);
	pthread_mutex_unlock(&timed);
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	pthread_spin_init(&spin, 0);
	pthread_spin_lock(&spin);
	pthread_spin_unlock(&spin);
	sem_init(&sem, 0, 0);
	sem_init(&posted, 0, 1);
	sem_wait(&posted);
	pthread_create(&thread, NULL, post, NULL);
	sem_post(&sem);
	sem_wait(&posted);
	pthread_join(thread, NULL);
	pthread_once(&once, routine);
	mtx_init(&c11_mutex, mtx_plain);
	mtx_lock(&c11_mutex);
	mtx_unlock(&c11_mutex);
}

int main(void)
{
	pthread_t threads[N_THREADS];

	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	others();
#ifdef WITH_LIBRARY
	between_print();
#endif
	printf("total %d, runs %d\n", total, runs);
	return 5;
}

#endif
