/* SPDX-License-Identifier: MIT */
/* Threads with and without a name of their own; one inherits the name of a thread that has one. */
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *serve(void *argument)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return argument;
}

static void *serve_children(void *argument)
{
	pthread_t child;

	pthread_create(&child, NULL, serve, NULL);
	pthread_join(child, NULL);
	return argument;
}

/* Names itself before it creates a thread, which inherits the name. */
static void *serve_named(void *argument)
{
	pthread_setname_np(pthread_self(), "listener-1");
	return serve_children(argument);
}

int main(void)
{
	pthread_t threads[3];

	pthread_create(&threads[0], NULL, serve, NULL);
	pthread_create(&threads[1], NULL, serve, NULL);
	pthread_create(&threads[2], NULL, serve_named, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
