/* SPDX-License-Identifier: MIT */
/* Calls `leaf` 5 times: in a constructor, main, an atexit handler and two destructors. */
#include <stdlib.h>

__attribute__((noinline, noipa)) void leaf(void)
{
}

__attribute__((constructor)) static void before(void)
{
	leaf();
}

__attribute__((destructor)) static void after(void)
{
	leaf();
}

__attribute__((destructor(200))) static void last(void)
{
	leaf();
}

static void at_exit(void)
{
	leaf();
}

int main(void)
{
	atexit(at_exit);
	leaf();
	return 0;
}
