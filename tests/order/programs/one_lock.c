/* SPDX-License-Identifier: MIT */
/* Two threads acquire one mutex four times each. Prints the order: a word of eight digits. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char order[9];
static int n;

static void *work(void *name)
{
	for (int i = 0; i < 4; i++) {
		pthread_mutex_lock(&mutex);
		order[n++] = *(const char *)name;
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, "1");
	work("0");
	pthread_join(thread, NULL);
	puts(order);
	return n != 8;
}
