/* SPDX-License-Identifier: MIT */
/*
 * many_arcs [FILLER]: a thread calls `target` 10 times from each of 4096 call sites, and once more
 * from the first 64. With FILLER, that file fills the disk after the first 64 sites. The main
 * thread then does the same. Prints the number of calls. With "kill" as last argument, ends by
 * SIGKILL.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

static unsigned long n_target;
static const char *filler;

NOINLINE void target(void)
{
	n_target++;
}

#define SITE	   target();
#define SITES_4	   SITE SITE SITE SITE
#define SITES_16   SITES_4 SITES_4 SITES_4 SITES_4
#define SITES_64   SITES_16 SITES_16 SITES_16 SITES_16
#define SITES_256  SITES_64 SITES_64 SITES_64 SITES_64
#define SITES_1024 SITES_256 SITES_256 SITES_256 SITES_256

UNPROFILED static void few(void){SITES_64}

UNPROFILED static void many(void){SITES_1024 SITES_1024 SITES_1024 SITES_1024}

UNPROFILED static void fill_disk(void)
{
	static char block[4096];
	int fd;

	if (filler == NULL)
		return;
	fd = open(filler, O_CREAT | O_WRONLY | O_APPEND, 0600);
	while (write(fd, block, sizeof(block)) > 0)
		;
	close(fd);
}

UNPROFILED static void *run(void *unused)
{
	few();
	fill_disk();
	for (int i = 0; i < 10; i++)
		many();
	few();
	return unused;
}

/* Writes the gmon files; they are written a second time at the end. */
UNPROFILED __attribute__((destructor)) static void after(void)
{
	few();
	printf("%lu\n", n_target);
}

UNPROFILED int main(int argc, char **argv)
{
	pthread_t thread;

	filler = argc > 1 && argv[1][0] != '\0' ? argv[1] : NULL;
	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, NULL);
	run(NULL);
	if (argc > 2) {
		printf("%lu\n", n_target);
		fflush(stdout);
		kill(getpid(), SIGKILL);
	}
	return 0;
}
