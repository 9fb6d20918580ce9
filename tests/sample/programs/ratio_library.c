/* SPDX-License-Identifier: MIT */
/* The library of ratio.c. */
void b(void);

static volatile unsigned long sink;

__attribute__((noinline, noipa)) void b(void)
{
	for (unsigned long i = 0; i < 50000; i++)
		sink += i * i;
}
