/* SPDX-License-Identifier: MIT */
/*
 * A process that runs until it gets SIGTERM: main and `sleeper` sleep, `spinner` computes, `ping`
 * and `pong` wake each other through pipes, and `maker` starts threads and joins them, one after
 * the other. When all of them run, it prints their tids, each with its name.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int to_pong[2], to_ping[2];
static pthread_barrier_t begun;

static void begin(const char *name)
{
	prctl(PR_SET_NAME, name);
	printf("%d %s\n", gettid(), name);
	pthread_barrier_wait(&begun);
}

static void *spinner(void *arg)
{
	volatile unsigned long n = 0;

	begin("spinner");
	for (;;)
		n++;
	return arg;
}

static void *sleeper(void *arg)
{
	begin("sleeper");
	pause();
	return arg;
}

static void *ping(void *arg)
{
	char c = 0;

	begin("ping");
	while (write(to_pong[1], &c, 1) == 1 && read(to_ping[0], &c, 1) == 1)
		;
	return arg;
}

static void *pong(void *arg)
{
	char c;

	begin("pong");
	while (read(to_pong[0], &c, 1) == 1 && write(to_ping[1], &c, 1) == 1)
		;
	return arg;
}

static void *short_thread(void *arg)
{
	prctl(PR_SET_NAME, "short");
	return arg;
}

static void *maker(void *arg)
{
	pthread_t thread;

	begin("maker");
	while (pthread_create(&thread, NULL, short_thread, NULL) == 0)
		pthread_join(thread, NULL);
	return arg;
}

int main(void)
{
	static void *(*const routines[])(void *) = {spinner, sleeper, ping, pong, maker};
	const unsigned n = sizeof(routines) / sizeof(routines[0]);
	pthread_t thread;

	if (pipe(to_pong) || pipe(to_ping))
		return 1;
	pthread_barrier_init(&begun, NULL, n + 1);
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&thread, NULL, routines[i], NULL))
			return 1;
	pthread_barrier_wait(&begun);
	printf("%d known\n", gettid());
	fflush(stdout);
	for (;;)
		pause();
}
