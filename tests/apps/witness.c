/* SPDX-License-Identifier: MIT */
/*
 * A library to preload: at the end of a process, writes the CPU time that the kernel counted for
 * all its threads, in nanoseconds, to $CPU_WITNESS.<pid>.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

__attribute__((destructor)) static void testify(void)
{
	const char *prefix = getenv("CPU_WITNESS");
	struct timespec used;
	char path[4096];
	FILE *file;

	if (!prefix || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used))
		return;
	snprintf(path, sizeof(path), "%s.%d", prefix, (int)getpid());
	file = fopen(path, "w");
	if (!file)
		return;
	fprintf(file, "%lld\n", used.tv_sec * 1000000000LL + used.tv_nsec);
	fclose(file);
}
