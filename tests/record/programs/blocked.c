/* SPDX-License-Identifier: MIT */
/* A thread waits forever for `busy`; when it has slept for 0.3 s, the program kills itself. */
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit/sleeper.h"

static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static int tid;

static void *wait_for_ever(void *arg)
{
	__atomic_store_n(&tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	pthread_mutex_lock(&busy);
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_mutex_lock(&busy);
	pthread_create(&thread, NULL, wait_for_ever, NULL);
	if (!sleeper_await(&tid))
		return 1;
	usleep(300000);
	syscall(SYS_kill, getpid(), SIGKILL);
	return 1;
}
