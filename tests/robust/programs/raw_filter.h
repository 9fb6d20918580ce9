/* SPDX-License-Identifier: MIT */
/* Installs a seccomp filter by a syscall instruction of the program, so that no library sees it. */
#ifndef TESTS_ROBUST_RAW_FILTER_H
#define TESTS_ROBUST_RAW_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
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

#endif
