/* SPDX-License-Identifier: MIT */
/*
 * A reader waits for each byte that main writes into a pipe; main waits until the reader is
 * blocked, and then works for a millisecond.  At the end, main sleeps once, and waits for a
 * descriptor that never becomes readable.  Prints the descriptor, the number of bytes, and the
 * reader's own account of its reads.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../unit/sleeper.h"

static int from_main[2];
static int reader_tid; /* atomic */
static long long read_ns;
static int n_bytes;

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int next_byte(void)
{
	char byte;
	long long begin_ns = now_ns();
	int n = (int)read(from_main[0], &byte, 1);

	read_ns += now_ns() - begin_ns;
	return n == 1 && byte == 'x';
}

static void *reader(void *arg)
{
	__atomic_store_n(&reader_tid, gettid(), __ATOMIC_RELEASE);
	while (next_byte())
		n_bytes++;
	return arg;
}

static void wait_for_reader(void)
{
	int tid;
	long long end_ns;

	do
		tid = __atomic_load_n(&reader_tid, __ATOMIC_ACQUIRE);
	while (!tid || sleeper_state(tid) != 'S');
	end_ns = now_ns() + 1000000;
	while (now_ns() < end_ns)
		;
}

static void idle(void)
{
	struct timespec millisecond = {.tv_nsec = 1000000};
	struct pollfd never = {.fd = from_main[0], .events = POLLIN};

	nanosleep(&millisecond, NULL);
	poll(&never, 1, 1);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 5;
	pthread_t thread;

	if (pipe(from_main) || pthread_create(&thread, NULL, reader, NULL))
		return 1;
	for (int i = 0; i < n; i++) {
		wait_for_reader();
		if (write(from_main[1], "x", 1) != 1)
			return 1;
		/* The reader may have read it, but not yet have gone on to the next one. */
		while (__atomic_load_n(&n_bytes, __ATOMIC_RELAXED) <= i)
			;
	}
	wait_for_reader();
	if (write(from_main[1], "e", 1) != 1)
		return 1;
	pthread_join(thread, NULL);
	idle();
	printf("%d %d %lld\n", from_main[0], n_bytes, read_ns);
	return 0;
}
