/* SPDX-License-Identifier: MIT */
/*
 * Stops the calling thread in its next mkdir() or mkdirat(), and so while it opens a capture, until
 * another thread resumes it, by a seccomp filter with user notification. A bare system call
 * installs the filter, so that the libraries do not notice it.
 */
#ifndef TESTS_UNIT_HELD_H
#define TESTS_UNIT_HELD_H

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static inline long held_syscall(long number, long a, long b, long c, long d, long e)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}

/*
 * Applies to the calling thread and the tasks that it creates. Returns a descriptor for
 * held_let_go(), or -errno.
 */
static inline int held_begin(void)
{
	struct sock_filter filter[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdir, 1, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdirat, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	held_syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (int)held_syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				 SECCOMP_FILTER_FLAG_NEW_LISTENER, (long)&program, 0, 0);
}

/* Resumes every stopped call until the last task with the filter has ended. */
static inline void held_let_go(int listener)
{
	struct pollfd wait = {.fd = listener, .events = POLLIN};

	while (poll(&wait, 1, -1) == 1 && (wait.revents & POLLIN) != 0) {
		struct seccomp_notif call = {0}; /* the kernel requires zeros */
		struct seccomp_notif_resp answer = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
			continue;
		answer.id = call.id;
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
}

#endif
