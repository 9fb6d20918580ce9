/* SPDX-License-Identifier: MIT */
/* Installs a seccomp filter by a syscall instruction of the program, so that no library sees it. */
#ifndef TESTS_ROBUST_RAW_FILTER_H
#define TESTS_ROBUST_RAW_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* For the calling thread.  Returns 0; -1 or -errno on failure. */
__attribute__((noinline, noipa, no_instrument_function)) static int
raw_filter_install(struct sock_filter *code, unsigned short n)
{
	struct sock_fprog program = {n, code};
	long result;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_seccomp), "D"(SECCOMP_SET_MODE_FILTER), "S"(0), "d"(&program)
			 : "rcx", "r11", "memory");
	return (int)result;
}

/* Calls `handle` instead of that system call, if its argument `i` has the value. */
__attribute__((noinline, noipa, no_instrument_function, unused)) static int
raw_filter_trap_argument(uint32_t number, unsigned i, uint32_t value,
			 void (*handle)(int, siginfo_t *, void *))
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		     (uint32_t)offsetof(struct seccomp_data, args) + 8 * i),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_NODEFER};

	sigaction(SIGSYS, &action, NULL);
	return raw_filter_install(code, sizeof(code) / sizeof(code[0]));
}

/* Calls `handle` instead of that system call with that first argument. */
__attribute__((noinline, noipa, no_instrument_function, unused)) static int
raw_filter_trap(uint32_t number, uint32_t argument, void (*handle)(int, siginfo_t *, void *))
{
	return raw_filter_trap_argument(number, 0, argument, handle);
}

#endif
