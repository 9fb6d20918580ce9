/* SPDX-License-Identifier: MIT */
/*
 * `caller` ends with the call of a function that never returns; `bystander` follows it in memory.
 */
#include <stdlib.h>

__attribute__((noinline, noipa, noreturn)) void die(int status)
{
	exit(status);
}

__attribute__((noinline, noipa, noreturn)) void caller(void)
{
	die(0);
}

__attribute__((noinline, noipa)) int bystander(int x)
{
	return x + 1;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return bystander(argv[1][0]);
	caller();
}
