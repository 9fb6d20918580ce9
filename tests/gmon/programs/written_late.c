/* SPDX-License-Identifier: MIT */
/* Has its gmon files written where files may have no byte, and ends where they may. */
#include <signal.h>
#include <sys/resource.h>

extern void _mcleanup(void);

__attribute__((noinline, noipa)) void worker(void)
{
	__asm__ volatile("");
}

__attribute__((no_instrument_function)) int main(void)
{
	struct rlimit none = {0, RLIM_INFINITY}, before;

	worker();
	getrlimit(RLIMIT_FSIZE, &before);
	setrlimit(RLIMIT_FSIZE, &none);
	_mcleanup();
	setrlimit(RLIMIT_FSIZE, &before);
	return 0;
}
