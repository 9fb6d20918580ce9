/* SPDX-License-Identifier: MIT */
/* `counted` runs while profiling is on, `uncounted` while moncontrol(0) has turned it off. */
#include "burn.h"

#define NOINLINE __attribute__((noinline, noipa))

extern void moncontrol(int mode);

static volatile unsigned long sink;

NOINLINE void counted(void)
{
	for (unsigned long i = 0; i < 100000; i++)
		sink += i * i;
}

NOINLINE void uncounted(void)
{
	for (unsigned long i = 0; i < 100000; i++)
		sink += i + i;
}

__attribute__((no_instrument_function)) int main(void)
{
	for (int round = 0; round < 2; round++) {
		for (uint64_t end = cpu_ns() + 40000000; cpu_ns() < end;)
			counted();
		moncontrol(0);
		for (uint64_t end = cpu_ns() + 40000000; cpu_ns() < end;)
			uncounted();
		moncontrol(1);
	}
	return 0;
}
