/* SPDX-License-Identifier: MIT */
/* Tells whether a thread of this or another process sleeps, according to the kernel. */
#ifndef TESTS_UNIT_SLEEPER_H
#define TESTS_UNIT_SLEEPER_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* For programs whose calls the test counts. */
#define SLEEPER_UNSEEN __attribute__((no_instrument_function))

#define SLEEPER_POLLS	 3000
#define SLEEPER_PAUSE_US 10000

SLEEPER_UNSEEN static inline char sleeper_state(int tid)
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

/* Waits until the thread that stores its id in *tid sleeps. A spinning thread never does. */
SLEEPER_UNSEEN static inline bool sleeper_await(const int *tid)
{
	for (int i = 0; i < SLEEPER_POLLS; i++) {
		int known = __atomic_load_n(tid, __ATOMIC_ACQUIRE);

		if (known && sleeper_state(known) == 'S')
			return true;
		usleep(SLEEPER_PAUSE_US);
	}
	return false;
}

#endif
