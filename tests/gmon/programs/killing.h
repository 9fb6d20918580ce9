/* SPDX-License-Identifier: MIT */
/*
 * For programs that kill their children at a random moment. The children count their steps in the
 * file `counts`, which all of them map.
 */
#ifndef TESTS_RUNTIME_GMON_KILLING_H
#define TESTS_RUNTIME_GMON_KILLING_H

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

/* Creates the file if it does not exist; ends the program on failure. */
UNPROFILED static void *map_counts(size_t size_bytes)
{
	int fd = open("counts", O_RDWR | O_CREAT, 0600);
	void *counts;

	if (fd < 0 || ftruncate(fd, (off_t)size_bytes) != 0)
		exit(2);
	counts = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED)
		exit(2);
	close(fd);
	return counts;
}

/*
 * Kills one child in four before its first step that n_done() counts, the others after fewer than
 * moment_max steps. Returns 0, or -1 if the child ended by itself.
 */
UNPROFILED static int kill_one(pid_t child, uint64_t (*n_done)(const void *counts),
			       const void *counts, unsigned moment_max)
{
	uint64_t moment = random() % 4 == 0 ? 0 : (uint64_t)random() % moment_max;
	unsigned spin = (unsigned)random() % 200000;
	int status;

	while (n_done(counts) < moment)
		if (waitpid(child, &status, WNOHANG) != 0)
			return -1;
	for (volatile unsigned i = 0; i < spin; i++)
		;
	if (kill(child, SIGKILL) != 0 || waitpid(child, &status, 0) != child)
		return -1;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : -1;
}

#endif
