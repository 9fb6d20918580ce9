/* SPDX-License-Identifier: MIT */
/*
 * Tells whether a thread of this or another process sleeps, according to the kernel, in code of the
 * program: gprof-mt's libraries make files for a thread, at its first event or sample, and sleep
 * meanwhile.
 */
#ifndef TESTS_UNIT_SLEEPER_H
#define TESTS_UNIT_SLEEPER_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For programs whose calls the test counts. */
#define SLEEPER_UNSEEN __attribute__((no_instrument_function))

#define SLEEPER_POLLS	 3000
#define SLEEPER_PAUSE_US 10000

/* By the address of the system call, whose file /proc may refuse to show. */
SLEEPER_UNSEEN static inline bool sleeper_is_in_library(int tid)
{
	char path[64], line[512] = "";
	unsigned long start, end, at = 0;
	bool is_in = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (fgets(line, sizeof(line), file) && strrchr(line, ' '))
		at = strtoul(strrchr(line, ' ') + 1, NULL, 16);
	fclose(file);
	if (line[0] == 'r') /* "running" */
		return true;
	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	file = at ? fopen(path, "r") : NULL;
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && at >= start && at < end)
			is_in = strstr(line, "libgmon_mt") || strstr(line, "libsync_trace");
	if (file)
		fclose(file);
	return is_in;
}

/* The state in /proc/PID/stat, wherever the thread is. */
SLEEPER_UNSEEN static inline char sleeper_kernel_state(int tid)
{
	char path[64], line[512] = "";
	const char *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return '\0';
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	end = strrchr(line, ')');
	return end && end[1] ? end[2] : '\0';
}

SLEEPER_UNSEEN static inline char sleeper_state(int tid)
{
	char state = sleeper_kernel_state(tid);

	return (char)(state == 'S' && sleeper_is_in_library(tid) ? 'R' : state);
}

/* Waits until the thread that stores its id in *tid sleeps. A spinning thread never does. */
SLEEPER_UNSEEN static inline bool sleeper_await_by(const int *tid, char (*state_of)(int))
{
	for (int i = 0; i < SLEEPER_POLLS; i++) {
		int known = __atomic_load_n(tid, __ATOMIC_ACQUIRE);

		if (known && state_of(known) == 'S')
			return true;
		usleep(SLEEPER_PAUSE_US);
	}
	return false;
}

SLEEPER_UNSEEN static inline bool sleeper_await(const int *tid)
{
	return sleeper_await_by(tid, sleeper_state);
}

#endif
