/* SPDX-License-Identifier: MIT */
/* Uses CPU time until the calling thread's clock has advanced by the given amount. */
#ifndef BURN_H
#define BURN_H

#include <stdint.h>
#include <time.h>

static inline __attribute__((no_instrument_function)) uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* CPU time of all threads of the process, including ended ones. */
static inline __attribute__((no_instrument_function, unused)) uint64_t process_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static volatile unsigned long burn_sink;

/* About 100 us. */
__attribute__((noinline, noipa, unused)) static void burn_some(void)
{
	for (unsigned long i = 0; i < 50000; i++)
		burn_sink += i * i;
}

__attribute__((unused, no_instrument_function)) static void burn_ms(unsigned ms)
{
	uint64_t end = cpu_ns() + ms * UINT64_C(1000000);

	while (cpu_ns() < end)
		burn_some();
}

#endif
