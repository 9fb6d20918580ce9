/* SPDX-License-Identifier: MIT */
/*
 * thread_ends HOW: a thread calls `leaf` 1000 times, half of them in the destructor of its key, and
 * ends as HOW tells. A second thread calls it 10 times; if HOW ends the process, this thread is
 * still running then.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noipa))

static const char *how;
static pthread_key_t key;
static sem_t done, never;

NOINLINE void leaf(void)
{
}

NOINLINE static void half(void)
{
	for (int i = 0; i < 500; i++)
		leaf();
}

static void destroy(void *unused)
{
	half();
	sem_post(&done);
}

static void *run(void *unused)
{
	pthread_setspecific(key, &key);
	half();
	if (strcmp(how, "pthread_exit") == 0)
		pthread_exit(NULL);
	if (strcmp(how, "cancel") == 0) {
		sem_post(&done);
		sem_wait(&never);
	}
	if (strcmp(how, "cancel_async") == 0) {
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
		sem_post(&done);
		for (;;)
			;
	}
	return NULL;
}

static void *bystander(void *ready)
{
	for (int i = 0; i < 10; i++)
		leaf();
	sem_post(ready);
	sem_wait(&never);
	return NULL;
}

static void *ends_process(void *unused)
{
	leaf();
	exit(5);
}

int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	pthread_t first, second;
	sem_t ready;

	how = argc > 1 ? argv[1] : "return";
	pthread_key_create(&key, destroy);
	sem_init(&done, 0, 0);
	sem_init(&never, 0, 0);
	sem_init(&ready, 0, 0);
	pthread_attr_init(&attributes);
	if (strcmp(how, "detached") == 0)
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_create(&first, &attributes, run, NULL);
	if (strncmp(how, "cancel", 6) == 0) {
		sem_wait(&done);
		pthread_cancel(first);
	}
	if (strcmp(how, "detached") == 0)
		sem_wait(&done);
	else
		pthread_join(first, NULL);
	pthread_create(&second, NULL, bystander, &ready);
	sem_wait(&ready);
	if (strcmp(how, "exit_in_thread") == 0) {
		pthread_create(&first, NULL, ends_process, NULL);
		pthread_join(first, NULL);
	}
	if (strcmp(how, "killed") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "_exit") == 0)
		_exit(5);
	if (strcmp(how, "main_exits_first") == 0) {
		pthread_detach(second);
		sem_post(&never);
		pthread_exit(NULL);
	}
	exit(5);
}
