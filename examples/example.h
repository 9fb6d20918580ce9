/* SPDX-License-Identifier: MIT */
/*
 * What the four examples share: their two arguments, thread names, and a unit of work.
 *
 * An example does the same work whatever the schedule, and prints only what does not depend on it;
 * so two runs, profiled or not, must print the same.  Functions that the reports are to show by
 * name are kept out of line.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Called as it is written: not inlined, not cloned for a constant argument under another name. */
#if __has_attribute(noipa)
#define EXAMPLE_FUNCTION static __attribute__((noipa))
#else
#define EXAMPLE_FUNCTION static __attribute__((noinline))
#endif

static void example_usage(FILE *file, const char *name, const char *text)
{
	fprintf(file, "usage: %s %s", name, text);
}

/* Argument `i`, a whole number from min to max; `otherwise` when it is not given. */
static unsigned example_number(int argc, char **argv, int i, unsigned min, unsigned max,
			       unsigned otherwise)
{
	unsigned long value;
	char *end;

	if (i >= argc)
		return otherwise;
	value = strtoul(argv[i], &end, 10);
	if (argv[i][0] < '0' || argv[i][0] > '9' || *end != '\0' || value < min || value > max) {
		fprintf(stderr, "%s: '%s' is not a number from %u to %u (try --help)\n", argv[0],
			argv[i], min, max);
		exit(2);
	}
	return (unsigned)value;
}

/* Answers --help, refuses more than max_args arguments. */
static void example_start(int argc, char **argv, int max_args, const char *usage)
{
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		example_usage(stdout, argv[0], usage);
		exit(0);
	}
	if (argc > max_args + 1) {
		example_usage(stderr, argv[0], usage);
		exit(2);
	}
}

/* pthread functions and sem_init return or set an error only for want of memory or threads. */
static void example_check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, strerror(error));
		exit(1);
	}
}

static void *example_alloc(size_t n, size_t size)
{
	void *memory = n ? calloc(n, size) : NULL;

	example_check(memory ? 0 : ENOMEM, "calloc");
	return memory;
}

EXAMPLE_FUNCTION __attribute__((format(printf, 1, 2))) void example_name_thread(const char *format,
										...)
{
	char name[16];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	pthread_setname_np(pthread_self(), name);
}

/* A unit of work: about a microsecond of dependent arithmetic, and a result that tells it was done.
 */
EXAMPLE_FUNCTION uint64_t crunch(uint64_t x)
{
	x = x * 0x9e3779b97f4a7c15 + 1;
	for (int i = 0; i < 400; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

static inline uint64_t example_work(uint64_t seed, unsigned units)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < units; i++)
		sum += crunch(seed + i);
	return sum;
}

#endif
