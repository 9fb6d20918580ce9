/* SPDX-License-Identifier: MIT */
/*
 * Two threads wait for a mutex that main() has, and get it one after the other.  Then
 * it goes on until it reads a line.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int tids[2];

static void *wait_for_it(void *number)
{
	atomic_store((atomic_int *)number, (int)syscall(SYS_gettid));
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* Nothing else is there to sleep in. */
static int sleeps(int tid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state == 'S';
}

int main(void)
{
	pthread_t threads[2];

	pthread_mutex_lock(&mutex);
	for (int i = 0; i < 2; i++) {
		pthread_create(&threads[i], NULL, wait_for_it, &tids[i]);
		while (!sleeps(atomic_load(&tids[i])))
			sched_yield();
	}
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	puts("handed");
	fflush(stdout);
	return getchar() == EOF;
}
