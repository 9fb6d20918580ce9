/* SPDX-License-Identifier: MIT */
/* A shared library built with -pg, called from a program. */
int library_inner(int x);
int library_outer(int x);
int library_from_program(int (*callback)(int), int x);

__attribute__((noinline, noipa)) int library_inner(int x)
{
	return x * 3;
}

int library_outer(int x)
{
	return library_inner(x) + library_inner(x + 1);
}

int library_from_program(int (*callback)(int), int x)
{
	return callback(x) + callback(x + 1) + callback(x + 2);
}
