/* SPDX-License-Identifier: MIT */
/* Restricts a program to one CPU, so that its threads take turns. */
#ifndef TESTS_ONE_CPU_H
#define TESTS_ONE_CPU_H

#include <sched.h>

/* Selects the first permitted CPU, also for threads created later. */
static inline void stay_on_one_cpu(void)
{
	cpu_set_t cpus, one;

	sched_getaffinity(0, sizeof(cpus), &cpus);
	CPU_ZERO(&one);
	for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
		if (CPU_ISSET(cpu, &cpus))
			CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

#endif
