/* SPDX-License-Identifier: MIT */
/* Uses the condition variables of glibc 2.2.5, like a program of 2002. */
#include <pthread.h>
#include <stdio.h>

#ifdef OLD
#define VERSION(name) __asm__(".symver " #name "," #name "@GLIBC_2.2.5")
VERSION(pthread_cond_init);
VERSION(pthread_cond_destroy);
VERSION(pthread_cond_wait);
VERSION(pthread_cond_timedwait);
VERSION(pthread_cond_signal);
VERSION(pthread_cond_broadcast);
VERSION(pthread_create);
VERSION(pthread_join);
VERSION(pthread_mutex_trylock);
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t fixed = PTHREAD_COND_INITIALIZER, made;
static int turn;

static void *run(void *arg)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&mutex);
		while (turn != 1)
			pthread_cond_wait(&fixed, &mutex);
		turn = 0;
		pthread_cond_broadcast(&made);
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

int main(void)
{
	struct timespec past = {1, 0};
	pthread_t thread;

	pthread_cond_init(&made, NULL);
	pthread_create(&thread, NULL, run, NULL);
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&mutex);
		turn = 1;
		pthread_cond_signal(&fixed);
		while (turn != 0)
			pthread_cond_wait(&made, &mutex);
		pthread_mutex_unlock(&mutex);
	}
	pthread_join(thread, NULL);
	if (pthread_mutex_trylock(&mutex) != 0)
		return 1;
	printf("%d\n", pthread_cond_timedwait(&made, &mutex, &past));
	pthread_mutex_unlock(&mutex);
	return pthread_cond_destroy(&made);
}
