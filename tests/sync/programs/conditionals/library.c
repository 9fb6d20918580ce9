/* SPDX-License-Identifier: MIT */
/* A library that hooks.c opens. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

unsigned in_library(unsigned n);

unsigned in_library(unsigned n)
{
	unsigned odd = 0;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < n; i++)
		if (i % 2)
			odd++;
	pthread_mutex_unlock(&lock);
	return odd;
}
