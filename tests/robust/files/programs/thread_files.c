/* SPDX-License-Identifier: MIT */
/*
 * thread_files HOW: makes threads in quick succession, and looks for their gmon files.
 *
 *	each N   N threads, one after the other; prints the highest number of missing files
 *	overdue  60 threads; 20 ms later calls a new function, prints the number of missing files
 *	WAY      60 threads, then ends by kill, _exit, _Exit, quick_exit, daemon or an exec
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))
#define N_THREADS  60

__attribute__((noinline, noipa)) static void leaf(void)
{
	__asm__ volatile("");
}

__attribute__((noinline, noipa)) static void later(void)
{
	__asm__ volatile("");
}

UNPROFILED static void *run(void *unused)
{
	leaf();
	return unused;
}

UNPROFILED static void threads(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run, NULL) != 0 ||
		    pthread_join(thread, NULL) != 0)
			exit(3);
	}
}

/* The files of all threads except the first. */
UNPROFILED static unsigned count_files(void)
{
	char path[64];
	unsigned n = 0;
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "gprof-mt.data/%d", (int)getpid());
	dir = opendir(path);
	while (dir != NULL && (entry = readdir(dir)) != NULL)
		n += strncmp(entry->d_name, "gmon.", 5) == 0 &&
		     strncmp(entry->d_name, "gmon.0.", 7) != 0;
	if (dir != NULL)
		closedir(dir);
	return n;
}

UNPROFILED static unsigned long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long)now.tv_sec * 1000 + (unsigned long)now.tv_nsec / 1000000;
}

UNPROFILED static void leave(const char *way)
{
	char *argv[] = {"true", NULL}, *none[] = {NULL};

	if (strcmp(way, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(way, "_exit") == 0)
		_exit(0);
	if (strcmp(way, "_Exit") == 0)
		_Exit(0);
	if (strcmp(way, "quick_exit") == 0)
		quick_exit(0);
	if (strcmp(way, "daemon") == 0 && daemon(1, 1) == 0)
		_exit(0);
	if (strcmp(way, "execve") == 0)
		execve("/bin/true", argv, none);
	if (strcmp(way, "execv") == 0)
		execv("/bin/true", argv);
	if (strcmp(way, "execvp") == 0)
		execvp("true", argv);
	if (strcmp(way, "execvpe") == 0)
		execvpe("true", argv, none);
	if (strcmp(way, "execl") == 0)
		execl("/bin/sh", "sh", "-c", "exit $#", "sh", NULL);
	if (strcmp(way, "execlp") == 0)
		execlp("sh", "sh", "-c", "exit $#", "sh", NULL);
	if (strcmp(way, "execle") == 0)
		execle("/bin/sh", "sh", "-c", "exit $#", "sh", NULL, none);
	if (strcmp(way, "fexecve") == 0)
		fexecve(open("/bin/true", O_RDONLY | O_CLOEXEC), argv, none);
	if (strcmp(way, "execveat") == 0)
		execveat(AT_FDCWD, "/bin/true", argv, none, 0);
}

UNPROFILED int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	unsigned most = 0;

	leaf();
	if (strcmp(how, "each") == 0) {
		unsigned n = (unsigned)atoi(argv[2]);

		for (unsigned i = 1; i <= n; i++) {
			unsigned missing;

			threads(1);
			missing = i - count_files();
			most = missing > most ? missing : most;
		}
		printf("%u\n", most);
		return 0;
	}
	threads(N_THREADS);
	if (strcmp(how, "overdue") == 0) {
		unsigned long begin = now_ms();

		while (now_ms() < begin + 20)
			;
		later();
		printf("%u\n", N_THREADS - count_files());
		return 0;
	}
	leave(how);
	return 4;
}
