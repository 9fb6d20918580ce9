/* SPDX-License-Identifier: MIT */
/*
 * losses HOW: calls `target` so that not all calls can be counted, and prints the number of calls.
 *
 *	address_space  from 4096 call sites, where no more memory can be had
 *	descriptors    the same, where no file can be opened
 *	file_size      the same, where files cannot grow
 *	threads        300 threads, one call each, where files cannot grow
 *	no_function    3 of them by hand, without an address
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

#define SITES_4                                                                                    \
	target();                                                                                  \
	target();                                                                                  \
	target();                                                                                  \
	target();
#define SITES_16   SITES_4 SITES_4 SITES_4 SITES_4
#define SITES_64   SITES_16 SITES_16 SITES_16 SITES_16
#define SITES_256  SITES_64 SITES_64 SITES_64 SITES_64
#define SITES_1024 SITES_256 SITES_256 SITES_256 SITES_256

void __cyg_profile_func_enter(void *function, void *site);

static int n_target;

NOINLINE void target(void)
{
	n_target++;
}

UNPROFILED static void many(void){SITES_1024 SITES_1024 SITES_1024 SITES_1024}

UNPROFILED static void limit(int resource, rlim_t to)
{
	struct rlimit limit;

	getrlimit(resource, &limit);
	limit.rlim_cur = to;
	setrlimit(resource, &limit);
}

UNPROFILED static void *run(void *unused)
{
	target();
	return unused;
}

UNPROFILED static void threads(void)
{
	for (int i = 0; i < 300; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run, NULL) == 0)
			pthread_join(thread, NULL);
	}
}

UNPROFILED int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	target();
	printf(" "); /* makes the C library allocate its buffer */
	if (strcmp(how, "address_space") == 0)
		limit(RLIMIT_AS, 4096);
	else if (strcmp(how, "descriptors") == 0)
		limit(RLIMIT_NOFILE, 0);
	else if (strcmp(how, "file_size") == 0 || strcmp(how, "threads") == 0)
		limit(RLIMIT_FSIZE, 4096);
	if (strcmp(how, "threads") == 0) {
		threads();
	} else if (strcmp(how, "no_function") == 0) {
		for (int i = 0; i < 3; i++, n_target++)
			__cyg_profile_func_enter(NULL, NULL);
	} else {
		many();
	}
	printf("%d\n", n_target);
	return 0;
}
