/* SPDX-License-Identifier: MIT */
/*
 * With -DLIBRARY a library that stands between the program and libc, as sanitizers do: definitions
 * without a version, which count.  Without, the program: four threads and a mutex.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#define N_THREADS 4
#define N_LOCKS	  1000

int n_created(void);
int n_unlocked(void);

#ifdef LIBRARY

static int created, unlocked;

int n_created(void)
{
	return created;
}

int n_unlocked(void)
{
	return unlocked;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *),
		   void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
	    dlsym(RTLD_NEXT, "pthread_create");

	__atomic_fetch_add(&created, 1, __ATOMIC_RELAXED);
	return real(thread, attributes, routine, arg);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	int (*real)(pthread_mutex_t *) = dlsym(RTLD_NEXT, "pthread_mutex_unlock");

	__atomic_fetch_add(&unlocked, 1, __ATOMIC_RELAXED);
	return real(mutex);
}

#else

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *work(void *arg)
{
	for (int i = 0; i < N_LOCKS; i++) {
		pthread_mutex_lock(&mutex);
		total++;
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[N_THREADS];

	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
#ifdef COUNTED
	printf("%d threads created, %d unlocks seen\n", n_created(), n_unlocked());
#endif
	printf("total %d\n", total);
	return 5;
}

#endif
