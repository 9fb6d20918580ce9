/* SPDX-License-Identifier: MIT */
/*
 * Sections whose data is in `region`.  The program is linked at a fixed address, so that the region
 * is the same in each run.  A store to region.begin and one to region.end enclose the accesses of a
 * section, which may have several segments.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
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

#define AT(type, offset) ((type *)(region.bytes + (offset)))

#define NOINLINE __attribute__((noinline))

/* All sections twice: in the first round, functions of libraries are bound. */
#define SECTION_IN(name, enter, leave)                                                             \
	do {                                                                                       \
		enter;                                                                             \
		region.begin = 1;                                                                  \
		name();                                                                            \
		region.end = 1;                                                                    \
		leave;                                                                             \
		printf("%s\n", #name);                                                             \
	} while (0)

#define SECTION(name) SECTION_IN(name, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))

static inline void copy_maps(const char *to)
{
	static char text[1 << 16];
	FILE *from = fopen("/proc/self/maps", "r"), *file = fopen(to, "w");
	size_t n = fread(text, 1, sizeof(text), from);

	fwrite(text, 1, n, file);
	fclose(from);
	fclose(file);
}

/* Prints where the region is; with an argument, writes the memory map to that file. */
static inline int finish(int argc, char **argv)
{
	printf("%p %d\n", (void *)&region, (int)sizeof(region));
	if (argc > 1)
		copy_maps(argv[1]);
	return 0;
}
