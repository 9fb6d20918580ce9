/* SPDX-License-Identifier: MIT */
/* For programs whose threads are to take turns: only one can run. */
#ifndef TESTS_ONE_CPU_H
#define TESTS_ONE_CPU_H

#include <sched.h>

/* The first that it may run on; threads made from now on stay there as well. */
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
