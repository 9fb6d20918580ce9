/* SPDX-License-Identifier: MIT */
/*
 * sampled DEPTH CAPTURE: measures what a timed sample costs at that depth of calls. The kernel's
 * timers expire once per tick, so few samples can be had in a second; this program sends itself the
 * timer's signal. Its value is in the thread table of the capture. Prints, each on a line, the
 * medians in ns:
 *
 *   sample-bare    a system call that sends no signal
 *   sample-signal  beyond that: the same signal with another value, which the handler ignores
 *   sample-hot     beyond sample-bare: a sample
 *   sample-cold    the same when the data caches hold other data, as between real samples
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "gmon-mt/format.h"

#define NOINLINE    __attribute__((noinline, noipa))
#define ROUNDS	    2000
#define OTHER_BYTES (8u << 20)
#define SIGNAL	    33

static uint64_t times[ROUNDS];
static volatile unsigned char others[OTHER_BYTES];
static volatile unsigned long sink;
static int number;	/* of the signal that is sent; 0: none */
static uintptr_t value; /* which it carries */
static siginfo_t info;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

NOINLINE static void work(uint64_t *ret_ns)
{
	uint64_t start = now_ns();

	syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), number, &info);
	*ret_ns = now_ns() - start;
}

NOINLINE static void even(int depth, uint64_t *ret_ns);

NOINLINE static void odd(int depth, uint64_t *ret_ns)
{
	if (depth > 0)
		even(depth - 1, ret_ns);
	else
		work(ret_ns);
	sink++; /* prevents a tail call */
}

NOINLINE static void even(int depth, uint64_t *ret_ns)
{
	if (depth > 0)
		odd(depth - 1, ret_ns);
	else
		work(ret_ns);
	sink++;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Returns the median. */
static uint64_t measure(int depth, int which, uintptr_t with, int is_cold)
{
	number = which;
	memset(&info, 0, sizeof(info));
	info.si_code = SI_TIMER;
	info.si_ptr = (void *)with;
	for (int i = 0; i < ROUNDS; i++) {
		for (unsigned at = 0; is_cold && at < OTHER_BYTES; at += 64)
			others[at]++;
		odd(depth + i % 2, &times[i]);
	}
	qsort(times, ROUNDS, sizeof(times[0]), compare);
	return times[ROUNDS / 2];
}

/* Returns false without a thread table that says who samples. */
static int find_value(const char *capture)
{
	struct gm_threads_header header;
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%d/threads", capture, (int)getpid());
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, &header, sizeof(header)) != sizeof(header))
		return 0;
	value = (uintptr_t)header.sampler;
	close(fd);
	return header.sample_state == GM_SAMPLE_ON && value != 0;
}

int main(int argc, char **argv)
{
	int depth = argc > 2 ? atoi(argv[1]) : 0;
	uint64_t bare;

	if (argc < 3 || !find_value(argv[2])) {
		fprintf(stderr, "sampled: no samples are taken\n");
		return 1;
	}
	bare = measure(depth, 0, 0, 0);
	printf("sample-bare %lu\n", bare);
	printf("sample-signal %lu\n", measure(depth, SIGNAL, value + 1, 0) - bare);
	printf("sample-hot %lu\n", measure(depth, SIGNAL, value, 0) - bare);
	bare = measure(depth, 0, 0, 1);
	printf("sample-cold %lu\n", measure(depth, SIGNAL, value, 1) - bare);
	return 0;
}
