/* SPDX-License-Identifier: MIT */
/*
 * Shared by the examples: their arguments, thread names, and a unit of work.
 *
 * An example does the same work on any schedule and prints only results that do not depend on the
 * schedule, so two runs, profiled or not, print the same.  Functions that the reports show by name
 * are not inlined.
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

/* Called as written: not inlined, and not cloned under another name for a constant argument. */
#if __has_attribute(noipa)
#define EXAMPLE_FUNCTION static __attribute__((noipa))
#else
#define EXAMPLE_FUNCTION static __attribute__((noinline))
#endif

static void example_usage(FILE *file, const char *name, const char *text)
{
	fprintf(file, "usage: %s %s", name, text);
}

/* Returns argument `i`, an integer from min to max; `otherwise` if it is missing. */
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

/* Handles --help, and rejects more than max_args arguments. */
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

/* pthread functions and sem_init fail only for lack of memory or threads. */
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
