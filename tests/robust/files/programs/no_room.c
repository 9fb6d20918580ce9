/* SPDX-License-Identifier: MIT */
/*
 * no_room FILLER middle|end|never: calls `leaf` and locks a mutex in two threads while the file
 * FILLER takes all space of the disk.  Removes FILLER in the middle, at the end or never.  After
 * the removal in the middle the threads go on until the capture has files of calls and of events,
 * and for 1000 rounds more.  Prints its calls and locks.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS	   1000
#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *filler, *when;
static unsigned long n_calls, n_locks, n_wrong;

NOINLINE static void leaf(void)
{
	n_calls++;
}

UNPROFILED static void rounds(int n)
{
	while (n-- > 0) {
		errno = 77;
		pthread_mutex_lock(&mutex);
		leaf();
		n_locks++;
		pthread_mutex_unlock(&mutex);
		n_wrong += errno != 77;
	}
}

UNPROFILED static int is_there(const char *folder, const char *name)
{
	char path[100];

	snprintf(path, sizeof(path), "gprof-mt.data/%s/%s", folder, name);
	return access(path, F_OK) == 0;
}

/* The folder of a process that has executed a program is PID.1. */
UNPROFILED static int is_recorded(void)
{
	char folder[40];

	for (int i = 0; i < 2; i++) {
		snprintf(folder, sizeof(folder), i ? "%d.%d" : "%d", (int)getpid(), i);
		if (is_there(folder, "calls") && is_there(folder, "user/stream_0"))
			return 1;
	}
	return 0;
}

UNPROFILED static void *work(void *unused)
{
	rounds(ROUNDS);
	if (strcmp(when, "middle") == 0) {
		unlink(filler);
		while (!is_recorded())
			rounds(1);
		rounds(ROUNDS);
	}
	return unused;
}

UNPROFILED int main(int argc, char **argv)
{
	pthread_t threads[2];

	if (argc < 3)
		return 2;
	filler = argv[1];
	when = argv[2];
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, NULL) != 0)
			return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (strcmp(when, "end") == 0)
		unlink(filler);
	printf("%lu %lu\n", n_calls, n_locks);
	return n_wrong == 0 ? 7 : 3;
}
