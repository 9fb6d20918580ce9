/* SPDX-License-Identifier: MIT */
/*
 * Raises signals in every way, from outside and from inside a handler, jumps out of a handler, and
 * fails in every way. Prints the targets of the calls. Ends by a signal of its own.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t seen;
static sigjmp_buf out;
static volatile sig_atomic_t handled, value_seen;

static void count(int number)
{
	(void)number;
	handled++;
	sem_post(&seen);
}

static void count_value(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	handled++;
	value_seen = info->si_value.sival_int;
	sem_post(&seen);
}

static void again(int number)
{
	(void)number;
	raise(SIGUSR1);
}

static void leave(int number)
{
	(void)number;
	siglongjmp(out, 1);
}

static void *stay(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void handlers(void)
{
	struct sigaction with_value = {.sa_sigaction = count_value, .sa_flags = SA_SIGINFO};

	signal(SIGUSR1, count);
	signal(SIGUSR2, again);
	signal(SIGALRM, leave);
	sigaction(SIGRTMIN, &with_value, NULL);
}

static void to_myself(void)
{
	errno = 7;
	assert(kill(getpid(), SIGUSR1) == 0);
	assert(tgkill(getpid(), gettid(), SIGUSR1) == 0);
	assert(raise(SIGUSR1) == 0);
	assert(pthread_kill(pthread_self(), SIGUSR1) == 0);
	assert(raise(SIGUSR2) == 0);
	assert(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 5}) == 0);
	assert(value_seen == 5);
	assert(pthread_sigqueue(pthread_self(), SIGRTMIN, (union sigval){.sival_int = 6}) == 0);
	assert(value_seen == 6);
	assert(handled == 7);
	assert(errno == 7);
	for (int i = 0; i < 7; i++)
		assert(sem_trywait(&seen) == 0);
	if (sigsetjmp(out, 1) == 0) {
		raise(SIGALRM);
		assert(!"came back");
	}
}

/* No process has this number; signal 0 only tests for existence. */
static void to_nobody(void)
{
	const pid_t nobody = 0x3ffffff;

	errno = 0;
	assert(kill(nobody, SIGUSR1) == -1 && errno == ESRCH);
	errno = 0;
	assert(kill(0, 1000) == -1 && errno == EINVAL);
	errno = 0;
	assert(killpg(nobody, SIGUSR1) == -1 && errno == ESRCH);
	errno = 0;
	assert(tgkill(getpid(), nobody, SIGUSR1) == -1 && errno == ESRCH);
	errno = 0;
	assert(raise(1000) == -1 && errno == EINVAL);
	errno = 0;
	assert(sigqueue(nobody, SIGUSR1, (union sigval){.sival_int = 0}) == -1 && errno == ESRCH);
	errno = 7;
	assert(pthread_kill(pthread_self(), 1000) == EINVAL);
	assert(pthread_sigqueue(pthread_self(), 1000, (union sigval){.sival_int = 0}) == EINVAL);
	assert(errno == 7);
	assert(kill(getpid(), 0) == 0);
}

int main(void)
{
	pthread_t thread;
	void *result;

	sem_init(&seen, 0, 0);
	handlers();
	to_myself();
	to_nobody();
	assert(pthread_create(&thread, NULL, stay, NULL) == 0);
	printf("pid %d\nthread %lu\nself %lu\n", getpid(), thread, pthread_self());
	fflush(stdout);
	assert(pthread_kill(thread, SIGUSR1) == 0);
	assert(sem_wait(&seen) == 0);
	assert(pthread_cancel(thread) == 0);
	assert(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
	raise(SIGTERM);
	return 0;
}
