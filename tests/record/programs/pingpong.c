/* SPDX-License-Identifier: MIT */
/*
 * pingpong ROUNDS [wait]: two threads on one CPU wake each other, so that each round is two context
 * switches. With `wait`, prints "ready" and waits for a line first. At its end each thread prints
 * the kernel's count:
 *
 *	thread TID voluntary N involuntary N
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "one_cpu.h"

static sem_t ping, pong;
static long rounds;

/* The witnesses are /proc and getrusage(), which must agree. */
static void print_switches(void)
{
	char path[64], line[256];
	long voluntary = -1, involuntary = -1;
	struct rusage usage;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", gettid());
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "voluntary_ctxt_switches: %ld", &voluntary);
		sscanf(line, "nonvoluntary_ctxt_switches: %ld", &involuntary);
	}
	if (file)
		fclose(file);
	getrusage(RUSAGE_THREAD, &usage);
	if (usage.ru_nvcsw < voluntary || usage.ru_nivcsw < involuntary)
		printf("getrusage and /proc disagree\n");
	printf("thread %d voluntary %ld involuntary %ld\n", gettid(), voluntary, involuntary);
	fflush(stdout);
}

static void *answer(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		sem_wait(&ping);
		sem_post(&pong);
	}
	print_switches();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char line[16];

	rounds = argc > 1 ? atol(argv[1]) : 1000;
	if (argc > 2) {
		puts("ready");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 1;
	}
	stay_on_one_cpu();
	sem_init(&ping, 0, 0);
	sem_init(&pong, 0, 0);
	pthread_create(&thread, NULL, answer, NULL);
	for (long i = 0; i < rounds; i++) {
		sem_post(&ping);
		sem_wait(&pong);
	}
	pthread_join(thread, NULL);
	print_switches();
	return 3;
}
