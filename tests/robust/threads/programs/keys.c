/* SPDX-License-Identifier: MIT */
/*
 * keys MODE N: starts N threads, one after the other, which call a counted function and lock a
 * mutex.  MODE selects how the program uses thread-specific keys:
 *
 *	look       reads key 0 before it has created a key, and then creates one
 *	delete     deletes all possible keys, and then creates as many as it can
 *	create     creates as many keys as it can
 *	c11, old   the same, by tss_create() and __pthread_key_create()
 *	clear      sets all keys to NULL in each thread
 *	overwrite  sets all keys to a value of its own in each thread
 *	late       calls the function only in the last round of destructors
 *
 * Prints what the calls return, and whether the threads have left mappings behind.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#define KEYS_MAX 1024

/* glibc exports it without a declaration. */
int __pthread_key_create(pthread_key_t *ret_key, void (*destructor)(void *));

void moncontrol(int mode) __attribute__((weak));

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t late;
static const char *mode;
static volatile long n_work, n_strange;
static __thread unsigned rounds;

__attribute__((noinline)) static void work(void)
{
	n_work++;
}

__attribute__((no_instrument_function)) static void run_late(void *arg)
{
	if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(late, arg);
	else
		work();
}

__attribute__((no_instrument_function)) static void *run(void *arg)
{
	if (strcmp(mode, "late") == 0) {
		pthread_setspecific(late, arg);
		return arg;
	}
	work();
	pthread_mutex_lock(&mutex);
	if (strcmp(mode, "clear") == 0 || strcmp(mode, "overwrite") == 0)
		for (pthread_key_t key = 0; key < KEYS_MAX; key++)
			pthread_setspecific(key, mode[0] == 'c' ? NULL : arg);
	pthread_mutex_unlock(&mutex);
	return arg;
}

/* The destructor of this program's keys: it is never called with a value that nobody set. */
static void destructor(void *value)
{
	if (value != (void *)&mode)
		n_strange++;
}

static long n_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	long n = 0;

	for (int c; (c = getc(maps)) != EOF;)
		n += c == '\n';
	fclose(maps);
	return n;
}

/* Creates a key in the way of the mode. */
static int create(pthread_key_t *ret_key)
{
	if (strcmp(mode, "c11") == 0)
		return tss_create(ret_key, destructor) == thrd_success ? 0 : -1;
	if (strcmp(mode, "old") == 0)
		return __pthread_key_create(ret_key, destructor);
	return pthread_key_create(ret_key, destructor);
}

static void take_all(void)
{
	pthread_key_t key, first = KEYS_MAX, last = 0;
	int n = 0;

	for (; create(&key) == 0; n++) {
		first = n == 0 ? key : first;
		last = key;
	}
	printf("keys from %u to %u\n", first, last);
	fprintf(stderr, "keys %d\n", n);
}

static void prepare(void)
{
	int deleted = 0;

	if (strcmp(mode, "look") == 0) {
		printf("get %d", pthread_getspecific(0) != NULL);
		printf(" set %d", pthread_setspecific(0, &mutex));
		printf(" delete %d", pthread_key_delete(0));
		printf(" create %d", pthread_key_create(&late, NULL));
		printf(" key %u\n", late);
	} else if (strcmp(mode, "late") == 0) {
		pthread_key_create(&late, run_late);
	} else if (strcmp(mode, "delete") == 0) {
		for (pthread_key_t key = 0; key < KEYS_MAX; key++)
			deleted += pthread_key_delete(key) == 0;
		fprintf(stderr, "deleted %d\n", deleted);
		take_all();
	} else if (strcmp(mode, "create") == 0 || strcmp(mode, "c11") == 0 ||
		   strcmp(mode, "old") == 0) {
		take_all();
	}
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 0, before = 0;

	mode = argc > 1 ? argv[1] : "";
	prepare();
	for (long i = 0; i < n; i++) {
		pthread_t thread;

		if (i == n / 4)
			before = n_mappings();
		if (pthread_create(&thread, NULL, run, &mode) != 0)
			return 1;
		pthread_join(thread, NULL);
	}
	if (n_mappings() > before + 50)
		printf("%ld mappings more\n", n_mappings() - before);
	if (moncontrol != NULL) {
		moncontrol(0);
		moncontrol(1);
	}
	printf("work %ld strange %ld\n", n_work, n_strange);
	return 0;
}
