/* SPDX-License-Identifier: MIT */
/*
 * least_stacks N: starts N threads, one after the other, on stacks of PTHREAD_STACK_MIN bytes,
 * while two threads send one signal each to the process, again as soon as it was handled. The
 * handlers of both signals may run on the stack of such a thread at once, at any instruction.
 * Prints the number of threads.
 */
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static sem_t handled[2];
static volatile int ends;

static void on_usr1(int number)
{
	(void)number;
	sem_post(&handled[0]);
}

static void on_usr2(int number)
{
	(void)number;
	sem_post(&handled[1]);
}

static void set_blocked(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(how, &set, NULL);
}

static void *send(void *number)
{
	while (!ends) {
		while (sem_wait(&handled[number != NULL]) != 0)
			;
		kill(getpid(), number != NULL ? SIGUSR2 : SIGUSR1);
	}
	return number;
}

static void *begin(void *arg)
{
	set_blocked(SIG_UNBLOCK);
	return arg;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_usr1};
	pthread_t senders[2], thread;
	pthread_attr_t attributes;
	int n = argc > 1 ? atoi(argv[1]) : 0, started = 0;

	set_blocked(SIG_BLOCK);
	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = on_usr2;
	sigaction(SIGUSR2, &action, NULL);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	for (int i = 0; i < 2; i++) {
		sem_init(&handled[i], 0, 1);
		if (pthread_create(&senders[i], NULL, send, i == 0 ? NULL : &handled[i]) != 0)
			return 1;
	}
	for (int i = 0; i < n; i++) {
		if (pthread_create(&thread, &attributes, begin, NULL) != 0)
			return 1;
		started += pthread_join(thread, NULL) == 0;
	}
	/* Signals that are still pending are handled here. */
	ends = 1;
	set_blocked(SIG_UNBLOCK);
	for (int i = 0; i < 2; i++)
		pthread_join(senders[i], NULL);
	printf("%d\n", started);
	return 0;
}
