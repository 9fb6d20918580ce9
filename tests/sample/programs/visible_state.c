/* SPDX-License-Identifier: MIT */
/*
 * Prints all that a program can see of signals and timers while it uses CPU time: the output is the
 * same with and without samples.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

#define BURN_MS 20

static volatile sig_atomic_t n_own, n_foreign;
static bool stop;

static void show_handlers(const char *when)
{
	printf("%s:", when);
	for (int number = 1; number <= SIGRTMAX; number++) {
		struct sigaction action;

		if (sigaction(number, NULL, &action) != 0)
			printf(" %d:%s", number, strerrorname_np(errno));
		else if (action.sa_handler != SIG_DFL)
			printf(" %d:%s", number, action.sa_handler == SIG_IGN ? "ign" : "handler");
	}
	printf("\n");
}

/* Blocks all signals, as signal threads and event loops do. */
static void block_everything(void)
{
	struct timespec now = {0, 0}, soon = {0, 1000000};
	sigset_t all, none, pending;
	struct signalfd_siginfo info;
	int fd;

	sigfillset(&all);
	sigemptyset(&none);
	fd = signalfd(-1, &all, SFD_NONBLOCK);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	burn_ms(BURN_MS);
	sigpending(&pending);
	printf("pending: %s\n", sigisemptyset(&pending) ? "none" : "some");
	printf("sigtimedwait: %d", sigtimedwait(&all, NULL, &now));
	printf(" %s\n", strerrorname_np(errno));
	printf("signalfd: %zd", read(fd, &info, sizeof(info)));
	printf(" %s\n", strerrorname_np(errno));
	close(fd);
	for (int i = 0; i < 10; i++) {
		burn_ms(2);
		if (ppoll(NULL, 0, &soon, &none) != 0)
			printf("ppoll: %s\n", strerrorname_np(errno));
	}
	pthread_sigmask(SIG_UNBLOCK, &all, NULL);
}

/* Resets all signal handlers, as daemons do when they start. */
static void reset_everything(void)
{
	for (int number = 1; number <= SIGRTMAX; number++)
		signal(number, SIG_DFL);
	burn_ms(BURN_MS);
	show_handlers("after reset");
}

static void own_tick(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if (info->si_code == SI_KERNEL)
		n_own++;
	else
		n_foreign++;
}

/* Uses SIGPROF itself, as user-space profilers and schedulers do. */
static void use_sigprof(void)
{
	struct sigaction action = {.sa_sigaction = own_tick, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct itimerval every = {{0, 5000}, {0, 5000}}, off = {{0, 0}, {0, 0}}, left;

	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	while (n_own < 5)
		burn_some();
	getitimer(ITIMER_PROF, &left);
	printf("SIGPROF: every %ld us, foreign %d\n", (long)left.it_interval.tv_usec,
	       (int)n_foreign);
	setitimer(ITIMER_PROF, &off, NULL);
	signal(SIGPROF, SIG_IGN);
	raise(SIGPROF);
	burn_ms(BURN_MS);
	signal(SIGPROF, SIG_DFL);
}

static void own_timer(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
	struct itimerspec every = {{0, 5000000}, {0, 5000000}};
	struct timespec now = {0, 0};
	siginfo_t info;
	timer_t timer;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer);
	timer_settime(timer, 0, &every, NULL);
	while (sigtimedwait(&set, &info, &now) != SIGRTMIN)
		burn_some();
	printf("own timer: %d\n", info.si_code == SI_TIMER);
	timer_delete(timer);
}

static void *burn_until_stop(void *unused)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		burn_some();
	return unused;
}

static void *burn_for_ever(void *unused)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		burn_some();
	return unused;
}

/* glibc signals every thread for this call, with the signal number that samples use. */
static void set_ids(void)
{
	pthread_t threads[3];
	int failed = 0;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, burn_until_stop, NULL);
	for (int i = 0; i < 30; i++) {
		failed += setegid(getegid()) != 0;
		burn_some();
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("setegid: %d failed\n", failed);
}

static void cancel(void)
{
	int cancelled = 0;

	for (int i = 0; i < 4; i++) {
		pthread_t thread;
		void *result;

		pthread_create(&thread, NULL, burn_for_ever, NULL);
		burn_ms(5);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		cancelled += result == PTHREAD_CANCELED;
	}
	printf("cancelled: %d\n", cancelled);
}

static void fork_and_exec(char *program)
{
	int status;

	fflush(stdout);
	if (fork() == 0) {
		burn_ms(5 * BURN_MS);
		execl(program, program, "10", (char *)NULL);
		_exit(1);
	}
	wait(&status);
	printf("child: %x\n", status);
}

int main(int argc, char **argv)
{
	if (argc > 1) { /* each exec happens with running timers */
		char left[16];

		burn_ms(3);
		if (strcmp(argv[1], "0") == 0)
			return 7;
		snprintf(left, sizeof(left), "%d", atoi(argv[1]) - 1);
		execl(argv[0], argv[0], left, (char *)NULL);
		return 1;
	}
	burn_ms(BURN_MS);
	show_handlers("at first");
	block_everything();
	reset_everything();
	use_sigprof();
	own_timer();
	set_ids();
	cancel();
	fork_and_exec(argv[0]);
	show_handlers("at last");
	return 0;
}
