/* SPDX-License-Identifier: MIT */
/*
 * Critical sections whose accesses are known. Prints the addresses and numbers that the test
 * expects. The functions between lock and unlock are not inlined, so that compilers keep each
 * access.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LINES_MAX 8192

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static _Alignas(64) volatile struct {
	uint64_t counter;
	uint8_t same, changes;
	char pad[54];
	uint64_t other;
} data;
static _Alignas(64) volatile char many[100 * 64], too_many[(LINES_MAX + 50) * 64];
static volatile int is_open;

static void repeat(int n)
{
	for (int i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		data.counter++;
		pthread_mutex_unlock(&mutex);
	}
}

static void *run(void *unused)
{
	repeat(1000);
	return unused;
}

static void *opens(void *unused)
{
	pthread_mutex_lock(&mutex);
	is_open = 1;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	return unused;
}

/* `same` is written and stays as it is; the other one changes and changes back, and then not. */
static void changes(void)
{
	pthread_mutex_lock(&mutex);
	data.same = data.same;
	data.changes = 5;
	data.changes = 0;
	pthread_mutex_unlock(&mutex);
	pthread_mutex_lock(&mutex);
	data.same = 0;
	data.changes = 5;
	pthread_mutex_unlock(&mutex);
}

static void nested(void)
{
	pthread_mutex_lock(&mutex);
	data.counter = 1;
	pthread_mutex_lock(&inner);
	data.other = 2;
	pthread_mutex_unlock(&mutex);
	data.same = 3;
	pthread_mutex_unlock(&inner);
	data.changes = 4;
}

static void waits(void)
{
	pthread_t thread;

	pthread_mutex_lock(&mutex);
	data.counter = 5;
	pthread_create(&thread, NULL, opens, NULL);
	while (!is_open)
		pthread_cond_wait(&cond, &mutex);
	data.other = 6;
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
}

int main(void)
{
	pthread_t thread;

	printf("%lu %lu %lu %lu %lu %lu\n", (unsigned long)(uintptr_t)&data,
	       (unsigned long)(uintptr_t)many, (unsigned long)(uintptr_t)too_many,
	       (unsigned long)sizeof(many), (unsigned long)sizeof(too_many),
	       (unsigned long)(uintptr_t)&is_open);
	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, NULL);
	changes();
	nested();
	waits();
	pthread_mutex_lock(&mutex);
	for (unsigned i = 0; i < sizeof(many); i++)
		many[i] = (char)(i % 7 + 1);
	pthread_mutex_unlock(&mutex);
	pthread_mutex_lock(&mutex);
	for (unsigned i = 0; i < sizeof(too_many); i += 64)
		too_many[i] = 1;
	too_many[0]++;
	too_many[sizeof(too_many) - 64]++;
	pthread_mutex_unlock(&mutex);
	repeat(1);
	data.other++;
	return 0;
}
