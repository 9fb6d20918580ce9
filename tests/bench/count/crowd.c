/* SPDX-License-Identifier: MIT */
/* crowd THREADS: runs THREADS threads at once, each with 96 used call sites; prints resident KiB.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

__attribute__((noinline, noipa)) static void target(void)
{
	__asm__ volatile("");
}

#define SITE	target();
#define SITES_8 SITE SITE SITE SITE SITE SITE SITE SITE
#define SITES_96                                                                                   \
	SITES_8 SITES_8 SITES_8 SITES_8 SITES_8 SITES_8 SITES_8 SITES_8 SITES_8 SITES_8 SITES_8    \
	    SITES_8

static pthread_barrier_t barrier;

UNPROFILED static void *run(void *unused)
{
	SITES_96
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return unused;
}

UNPROFILED static long resident_kib(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long kib = -1;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "Rss: %ld kB", &kib) == 1)
			break;
	if (file != NULL)
		fclose(file);
	return kib;
}

UNPROFILED int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	pthread_t *threads = calloc(n, sizeof(*threads));

	pthread_barrier_init(&barrier, NULL, n + 1);
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, run, NULL) != 0)
			return 1;
	pthread_barrier_wait(&barrier);
	printf("%ld\n", resident_kib());
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
