/* SPDX-License-Identifier: MIT */
/*
 * A program that interposes functions of libc, as libfaketime does: each takes a mutex, allocates
 * memory, and calls functions compiled with -pg.  Prints how often they were called, which must not
 * depend on the profiler.
 *
 * usage: interposed THREADS ROUNDS
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noipa))

static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER, shared = PTHREAD_MUTEX_INITIALIZER;
__attribute__((unused)) static unsigned long n_clock, n_auxv, n_find, n_set, n_work, n_rounds;

NOINLINE static void inner(void)
{
	__asm__ volatile("");
}

/* Called by each interposed function. */
__attribute__((unused)) NOINLINE static void busy(unsigned long *counter)
{
	char *volatile memory;

	pthread_mutex_lock(&own);
	++*counter;
	memory = malloc(100);
	free(memory);
	inner();
	pthread_mutex_unlock(&own);
}

#ifndef NO_OWN
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	busy(&n_clock);
	return (int)syscall(SYS_clock_gettime, clock, ret);
}

unsigned long getauxval(unsigned long type)
{
	unsigned long (*next)(unsigned long) =
	    (unsigned long (*)(unsigned long))dlsym(RTLD_NEXT, "getauxval");

	busy(&n_auxv);
	return next(type);
}

int _dl_find_object(void *address, struct dl_find_object *ret)
{
	int (*next)(void *, struct dl_find_object *) =
	    (int (*)(void *, struct dl_find_object *))dlsym(RTLD_NEXT, "_dl_find_object");

	busy(&n_find);
	return next(address, ret);
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
	int (*next)(pthread_key_t, const void *) =
	    (int (*)(pthread_key_t, const void *))dlsym(RTLD_NEXT, "pthread_setspecific");

	busy(&n_set);
	return next(key, value);
}

#endif

NOINLINE static void work(void)
{
	pthread_mutex_lock(&shared);
	n_work++;
	inner();
	pthread_mutex_unlock(&shared);
}

static void *run(void *unused)
{
	struct timespec now;
	unsigned long begin, end;

	clock_gettime(CLOCK_MONOTONIC, &now);
	begin = (unsigned long)now.tv_sec * 1000 + (unsigned long)now.tv_nsec / 1000000;
	/* Long enough for the libraries to read the clock several times. */
	do {
		for (unsigned long i = 0; i < n_rounds; i++)
			work();
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
		end = (unsigned long)now.tv_sec * 1000 + (unsigned long)now.tv_nsec / 1000000;
	} while (end - begin < 60);
	return unused;
}

int main(int argc, char **argv)
{
	int n_threads = argc > 2 ? atoi(argv[1]) : 1;
	pthread_t thread;

	n_rounds = argc > 2 ? strtoul(argv[2], NULL, 0) : 1000;
	for (int i = 0; i < n_threads; i++)
		if (pthread_create(&thread, NULL, run, NULL) != 0 ||
		    pthread_join(thread, NULL) != 0)
			return 1;
	printf("clock_gettime %lu, getauxval %lu\n", n_clock, n_auxv);
	return 0;
}
