/* SPDX-License-Identifier: MIT */
/* The lines "cpuN USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ ..." of /proc/stat, in ticks. */
#include "replay/skeleton/load.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

int64_t pp_load_busy_ns(const cpu_set_t *cpus)
{
	FILE *file = fopen("/proc/stat", "re");
	uint64_t user, nice, system, irq, softirq, ticks = 0;
	unsigned n_found = 0, cpu;
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		if (line[3] == ' ') /* the sum of all CPUs */
			continue;
		if (sscanf(line,
			   "cpu%u %" SCNu64 " %" SCNu64 " %" SCNu64 " %*u %*u %" SCNu64 " %" SCNu64,
			   &cpu, &user, &nice, &system, &irq, &softirq) != 6 ||
		    !CPU_ISSET(cpu, cpus))
			continue;
		ticks += user + nice + system + irq + softirq;
		n_found++;
	}
	if (file)
		fclose(file);
	return n_found ? (int64_t)(ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK))) : -1;
}
