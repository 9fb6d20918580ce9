/* SPDX-License-Identifier: MIT */
/* Writes its gmon files under RLIMIT_FSIZE 0, and ends after the limit has been lifted. */
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
