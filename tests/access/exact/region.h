/* SPDX-License-Identifier: MIT */
/*
 * For exact.c and exact_cxx.cc: sections whose data is in `region`. The program is linked at a
 * fixed address, so that the region is the same in each run. A store to region.begin and one to
 * region.end enclose the accesses of a section.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define REGION_BYTES (1 << 18)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct {
	volatile uint64_t begin, end;
	char pad[48];
	char bytes[REGION_BYTES];
} region __attribute__((aligned(4096)));

static void copy_maps(const char *to)
{
	static char text[1 << 16];
	FILE *from = fopen("/proc/self/maps", "r"), *file = fopen(to, "w");
	size_t n = fread(text, 1, sizeof(text), from);

	fwrite(text, 1, n, file);
	fclose(from);
	fclose(file);
}

/* All sections twice: in the first round, functions of libraries are bound. */
#define SECTION(name)                                                                              \
	do {                                                                                       \
		pthread_mutex_lock(&mutex);                                                        \
		region.begin = 1;                                                                  \
		name();                                                                            \
		region.end = 1;                                                                    \
		pthread_mutex_unlock(&mutex);                                                      \
		printf("%s\n", #name);                                                             \
	} while (0)

#define NOINLINE __attribute__((noinline))
