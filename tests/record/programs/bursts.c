/* SPDX-License-Identifier: MIT */
/*
 * bursts: for each number N in a line of standard input, two threads on one CPU wake each other N
 * times; then prints "done N". At the end of the input each thread prints the kernel's count of its
 * switches:
 *
 *	thread TID switches N
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "one_cpu.h"

static sem_t ping, pong;
static int ended;

static void print_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	printf("thread %d switches %ld\n", gettid(), usage.ru_nvcsw + usage.ru_nivcsw);
	fflush(stdout);
}

static void *answer(void *arg)
{
	for (;;) {
		sem_wait(&ping);
		if (ended)
			break;
		sem_post(&pong);
	}
	print_switches();
	return arg;
}

int main(void)
{
	pthread_t thread;
	long n;

	stay_on_one_cpu();
	sem_init(&ping, 0, 0);
	sem_init(&pong, 0, 0);
	pthread_create(&thread, NULL, answer, NULL);
	while (scanf("%ld", &n) == 1) {
		for (long i = 0; i < n; i++) {
			sem_post(&ping);
			sem_wait(&pong);
		}
		printf("done %ld\n", n);
		fflush(stdout);
	}
	ended = 1;
	sem_post(&ping);
	pthread_join(thread, NULL);
	print_switches();
	return 0;
}
