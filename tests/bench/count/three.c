/* SPDX-License-Identifier: MIT */
/*
 * three THREADS ROUNDS: each thread calls three tiny functions ROUNDS times.  Prints nanoseconds
 * per call, then the calls of each function that gprof should show.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

NOINLINE static int add(int x)
{
	return x + 1;
}

NOINLINE static int flip(int x)
{
	return x ^ 3;
}

NOINLINE static int scale(int x)
{
	return x * 5;
}

UNPROFILED static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

struct job {
	long rounds;
	double cpu_ns;
};

UNPROFILED static void *run(void *arg)
{
	static volatile int sink;
	struct job *job = arg;
	double start_ns = cpu_ns();
	int x = 0;

	for (long i = job->rounds; i > 0; i--) {
		x = add(x);
		x = flip(x);
		x = scale(x);
	}
	sink = x;
	job->cpu_ns = cpu_ns() - start_ns;
	return NULL;
}

UNPROFILED int main(int argc, char **argv)
{
	int n_threads = argc > 1 ? atoi(argv[1]) : 1;
	long rounds = argc > 2 ? atol(argv[2]) : 1000000;
	pthread_t threads[64];
	struct job jobs[64];
	double sum_ns = 0;

	for (int i = 0; i < n_threads && i < 64; i++) {
		jobs[i] = (struct job){.rounds = rounds};
		pthread_create(&threads[i], NULL, run, &jobs[i]);
	}
	for (int i = 0; i < n_threads && i < 64; i++) {
		pthread_join(threads[i], NULL);
		sum_ns += jobs[i].cpu_ns;
	}
	printf("%.3f %ld\n", sum_ns / (3.0 * (double)rounds * n_threads), rounds * n_threads);
	return 0;
}
