/* SPDX-License-Identifier: MIT */
/*
 * A daemon opens a data file in place of stderr and loses access to the capture, so that the calls
 * of its child cannot be recorded. Prints the data.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static __attribute__((noinline)) void work(void)
{
	__asm__ volatile("");
}

int main(void)
{
	char data[4096];
	ssize_t n;
	int status;
	pid_t child;

	close(2);
	if (open("data", O_RDWR | O_CREAT | O_TRUNC, 0600) != 2 || write(2, "payload\n", 8) != 8)
		return 2;
	if (mkdir("jail", 0700) != 0 || chroot("jail") != 0 || chdir("/") != 0)
		return 3;
	child = fork();
	if (child == 0) {
		work();
		_exit(7);
	}
	if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7)
		return 4;
	n = pread(2, data, sizeof(data), 0);
	fwrite(data, 1, n > 0 ? (size_t)n : 0, stdout);
	return 5;
}
