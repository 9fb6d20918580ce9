/* SPDX-License-Identifier: MIT */
/*
 * The kernel refuses a filter for all threads, because one thread has a filter of its own.  The
 * refused filter traps openat(); 100 calls of `leaf` follow.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

static pthread_barrier_t barrier;

__attribute__((noinline, noipa)) static void leaf(void)
{
	__asm__ volatile("");
}

UNPROFILED static void *thread(void *unused)
{
	struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {1, code};

	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return unused;
}

int main(void)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
	pthread_t id;

	pthread_barrier_init(&barrier, NULL, 2);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    pthread_create(&id, NULL, thread, NULL) != 0)
		return 1;
	pthread_barrier_wait(&barrier);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) <= 0)
		return 2;
	for (int i = 0; i < 100; i++)
		leaf();
	pthread_barrier_wait(&barrier);
	pthread_join(id, NULL);
	return 7;
}
