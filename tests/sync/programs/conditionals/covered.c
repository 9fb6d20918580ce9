/* SPDX-License-Identifier: MIT */
/*
 * Instrumented code whose hook is in covers.c. Prints how often that was called, and a sum that
 * tells from which places.
 */
#include <pthread.h>
#include <stdio.h>

unsigned covered_calls(void);
unsigned long covered_places(const void *origin);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *n)
{
	unsigned odd = 0;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < (unsigned)(long)n; i++)
		if (i % 2)
			odd++;
	pthread_mutex_unlock(&lock);
	return (void *)(long)odd;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)1000) != 0)
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%u calls, places %#lx\n", covered_calls(), covered_places((const void *)main));
	return 0;
}
