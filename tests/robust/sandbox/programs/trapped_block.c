/* SPDX-License-Identifier: MIT */
/*
 * Traps rt_sigprocmask by a filter that no library sees, and jumps out of each caller of it, while
 * it calls one function from 20 call sites.  Prints the number of jumps.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))
#define N_PLACES   20
#define PLACES	   0x10000000

extern void __cyg_profile_func_enter(void *function, void *site);

static sigjmp_buf back;
static volatile int jumps, place;

__attribute__((noinline, noipa)) static void target(void)
{
	__asm__ volatile("");
}

UNPROFILED static void jump(int number)
{
	if (++jumps == N_PLACES)
		_exit(1);
	siglongjmp(back, number);
}

UNPROFILED static long system_call(long number, long a, long b, long c)
{
	register long d __asm__("r10") = 0;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d)
			 : "rcx", "r11", "memory");
	return result;
}

UNPROFILED int main(void)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};
	struct sigaction action = {.sa_handler = jump, .sa_flags = SA_NODEFER};

	target();
	sigaction(SIGSYS, &action, NULL);
	system_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0);
	if (system_call(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program) != 0)
		return 77;
	sigsetjmp(back, 0);
	while (place++ < N_PLACES)
		__cyg_profile_func_enter((void *)target, (void *)(PLACES + 16L * place));
	printf("%d jumps\n", jumps);
	fflush(stdout);
	_exit(0);
}
