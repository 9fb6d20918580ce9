/* SPDX-License-Identifier: MIT */
/*
 * usage: other [ROOT HOW PROGRAM]
 *
 * Prints its name on stdout and stderr, and exits with 6.  With arguments it makes ROOT its root
 * directory and executes PROGRAM, in a child if HOW is "fork", itself if HOW is "exec", and exits
 * with the status of PROGRAM.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int run_in(const char *root, const char *program)
{
	char *arguments[] = {(char *)program, NULL};

	if (chroot(root) != 0 || chdir("/") != 0)
		return 77;
	execve(program, arguments, environ);
	return 78;
}

int main(int argc, char **argv)
{
	int status = 0;

	if (argc == 4 && strcmp(argv[2], "exec") == 0)
		return run_in(argv[1], argv[3]);
	if (argc == 4) {
		if (fork() == 0)
			_exit(run_in(argv[1], argv[3]));
		wait(&status);
		return WEXITSTATUS(status);
	}
	printf("%s on its output\n", argv[0]);
	fprintf(stderr, "%s on its error output\n", argv[0]);
	return 6;
}
