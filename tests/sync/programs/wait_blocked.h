/* SPDX-License-Identifier: MIT */
/* Waits until that thread of this process sleeps in the kernel. */
#ifndef ASLEEP_H
#define ASLEEP_H

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void until_asleep(int tid)
{
	char path[64], line[512], *end;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	for (;;) {
		FILE *file = fopen(path, "r");

		assert(file != NULL && fgets(line, sizeof(line), file) != NULL);
		fclose(file);
		end = strrchr(line, ')');
		if (end[2] == 'S')
			return;
		usleep(50); /* it may need the CPU of this thread */
	}
}

#endif
