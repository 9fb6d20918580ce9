/* SPDX-License-Identifier: MIT */
/* Calls a library 10 times from each of two functions, and is called back by it 30 times. */
#include <stdio.h>

int library_outer(int x);
int library_from_program(int (*callback)(int), int x);

static int callback(int x)
{
	return x - 1;
}

__attribute__((noinline, noipa)) static int here(int x)
{
	return library_outer(x) + 1;
}

__attribute__((noinline, noipa)) static int there(int x)
{
	return library_outer(x) + library_from_program(callback, x);
}

int main(void)
{
	int x = 1;

	for (int i = 0; i < 10; i++)
		x = here(x) ^ there(x);
	return x == 0;
}
