/* SPDX-License-Identifier: MIT */
/* The CPU time of another thread, which grows while it spins. */
#ifndef TESTS_REPORT_CPU_TIME_H
#define TESTS_REPORT_CPU_TIME_H

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static inline long cpu_time_ns(pthread_t thread)
{
	struct timespec now;
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &now))
		abort();
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
