/* SPDX-License-Identifier: MIT */
/*
 * Sections of which all instances access the same, for as much CPU time as the argument says, in
 * milliseconds: short ones that are frequent, one in 100, nested ones, and two that overlap.
 * Prints how often each was executed.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FREQUENT, RARE, OUTER, INNER, FIRST, SECOND, N };

static pthread_mutex_t locks[N] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
};
static volatile long words[16];
static long executed[N];

static long cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	long end_ms = argc > 1 ? atol(argv[1]) : 1000;

	for (long i = 0; i % 100 != 0 || cpu_ms() < end_ms; i++) {
		for (int k = 0; k < 10000; k++)
			words[15]++;
		executed[FREQUENT]++;
		pthread_mutex_lock(&locks[FREQUENT]); /* frequent */
		words[0] = i;
		pthread_mutex_unlock(&locks[FREQUENT]);
		if (i % 100 == 0) {
			executed[RARE]++;
			pthread_mutex_lock(&locks[RARE]); /* rare */
			words[1] = i;
			words[2] = i;
			pthread_mutex_unlock(&locks[RARE]);
		}
		executed[OUTER]++;
		executed[INNER]++;
		pthread_mutex_lock(&locks[OUTER]); /* outer */
		words[3] = i;
		words[4] = i;
		pthread_mutex_lock(&locks[INNER]); /* inner */
		words[5] = i;
		pthread_mutex_unlock(&locks[INNER]);
		words[6] = i;
		pthread_mutex_unlock(&locks[OUTER]);
		executed[FIRST]++;
		executed[SECOND]++;
		pthread_mutex_lock(&locks[FIRST]); /* first */
		words[7] = i;
		pthread_mutex_lock(&locks[SECOND]); /* second */
		words[8] = i;
		words[9] = i;
		pthread_mutex_unlock(&locks[FIRST]);
		words[10] = i;
		words[11] = i;
		words[12] = i;
		pthread_mutex_unlock(&locks[SECOND]);
	}
	for (int i = 0; i < N; i++)
		printf("%ld\n", executed[i]);
	return 0;
}
