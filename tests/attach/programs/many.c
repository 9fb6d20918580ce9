/* SPDX-License-Identifier: MIT */
/*
 * many N [COMMAND...]: runs N threads, each of which waits for the one before it in a ring, for
 * ever; prints "ready". At SIGUSR1 the first thread ends alone, at SIGUSR2 the process executes
 * COMMAND.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static sem_t *turns;
static long n_threads;

static void *pass_on(void *arg)
{
	long i = (long)arg;

	for (;;) {
		sem_wait(&turns[i]);
		sem_post(&turns[(i + 1) % n_threads]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	sigset_t set;
	int number;

	if (argc < 2)
		return 2;
	n_threads = strtol(argv[1], NULL, 10);
	turns = calloc((size_t)n_threads, sizeof(*turns));
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (long i = 0; i < n_threads; i++)
		sem_init(&turns[i], 0, i == 0);
	for (long i = 0; i < n_threads; i++)
		if (pthread_create(&thread, NULL, pass_on, (void *)i))
			return 1;
	puts("ready");
	fflush(stdout);
	sigwait(&set, &number);
	if (number == SIGUSR1)
		pthread_exit(NULL);
	execvp(argv[2], argv + 2);
	return 1;
}
