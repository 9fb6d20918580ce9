/* SPDX-License-Identifier: MIT */
/* Starts argv[1] eight times: programs without the runtime libraries, which only the kernel sees.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void work(void)
{
	__asm__ volatile("");
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 8; i++) {
		work();
		if (fork() == 0) {
			execv(argv[1], argv + 1);
			_exit(1);
		}
		wait(NULL);
	}
	return 0;
}
