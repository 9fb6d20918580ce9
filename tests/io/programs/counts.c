/* SPDX-License-Identifier: MIT */
/* A library that wraps read() and reaches glibc by the second name; it counts the calls. */
#include <stdio.h>
#include <unistd.h>

ssize_t __read(int fd, void *data, size_t n);
static int n_calls;

ssize_t read(int fd, void *data, size_t n)
{
	n_calls++;
	return __read(fd, data, n);
}

__attribute__((destructor)) static void end(void)
{
	fprintf(stderr, "%d calls of read\n", n_calls);
}
