/* SPDX-License-Identifier: MIT */
/*
 * A process that runs until it gets SIGTERM, or until it has executed the program that the next
 * line of stdin names: `user` computes in inner(), called by middle(), `kernel` makes system calls,
 * and `ticks` asks for the time. After a line with the path of a shared object, it loads that and
 * starts `plugin`, which computes there. Each thread prints its tid and its name.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void begin(const char *name)
{
	prctl(PR_SET_NAME, name);
	printf("%d %s\n", gettid(), name);
	fflush(stdout);
}

__attribute__((noinline)) static unsigned long inner(unsigned long n)
{
	volatile unsigned long sum = 0;

	for (unsigned long i = 0; i < n; i++)
		sum += i;
	return sum;
}

__attribute__((noinline)) static unsigned long middle(unsigned long n)
{
	return inner(n) + 1;
}

static void *user(void *arg)
{
	volatile unsigned long sum = 0;

	begin("user");
	for (;;)
		sum += middle(100000);
	return arg;
}

__attribute__((noinline)) static int ask(void)
{
	struct stat st;
	int failed = 0;

	for (int i = 0; i < 1000; i++)
		failed += stat("/proc/self/status", &st) != 0;
	return failed;
}

static void *kernel(void *arg)
{
	volatile int failed = 0;

	begin("kernel");
	for (;;)
		failed += ask();
	return arg;
}

/* In the vDSO. */
static void *ticks(void *arg)
{
	struct timespec now;

	begin("ticks");
	for (;;)
		clock_gettime(CLOCK_MONOTONIC, &now);
	return arg;
}

static void *plugin(void *path)
{
	void *object = dlopen(path, RTLD_NOW);
	unsigned long (*compute)(unsigned long) = object ? dlsym(object, "compute") : NULL;
	volatile unsigned long sum = 0;

	if (!compute)
		return NULL;
	begin("plugin");
	for (;;)
		sum += compute(100000);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	char path[4096];

	begin("main");
	pthread_create(&thread, NULL, user, NULL);
	pthread_create(&thread, NULL, kernel, NULL);
	pthread_create(&thread, NULL, ticks, NULL);
	if (!fgets(path, sizeof(path), stdin))
		pause();
	path[strcspn(path, "\n")] = 0;
	pthread_create(&thread, NULL, plugin, path);
	pause();
	return 0;
}
