/* SPDX-License-Identifier: MIT */
/*
 * odd WAY: blocking calls in unusual circumstances.  Prints what a program sees.
 *   vfork   in the child of vfork(), which shares its parent's memory
 *   fork    in the child of fork(), in its parent and in a second thread; and in a call during
 *           which a handler forks
 *   tsc     in a thread that may not read the TSC
 *   jump    left by a handler's jump
 *   exit    in a thread that a handler ends
 *   names   with functions of its own, in the program and in a library, that have the calls' names
 *   killed  until it is killed
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct timespec brief = {0, 2000000};

/* Waits until the thread of this process is blocked in that system call. */
static void until_blocked(int tid, int number)
{
	char path[64];
	int now;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	do {
		FILE *file = fopen(path, "r");

		syscall(SYS_nanosleep, &(struct timespec){0, 100000}, NULL);
		now = -1; /* "running" */
		if (file == NULL || (fscanf(file, "%d", &now), fclose(file)) != 0)
			abort();
	} while (now != number);
}

/* Waits until the process sleeps; a child may read no more about its parent. */
static void until_process_asleep(int pid)
{
	char path[64], state = ' ';

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (state != 'S') {
		FILE *file = fopen(path, "r");

		syscall(SYS_nanosleep, &brief, NULL);
		if (file == NULL || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			abort();
		fclose(file);
	}
}

static pthread_t alarmed;
static int alarmed_tid, alarmed_in;

static void *send_alarm(void *arg)
{
	until_blocked(alarmed_tid, alarmed_in);
	syscall(SYS_nanosleep, &brief, NULL);
	pthread_kill(alarmed, SIGALRM);
	return arg;
}

/* The calling thread gets SIGALRM in its next such system call. */
static pthread_t alarm_in(int number)
{
	pthread_t thread;

	alarmed = pthread_self();
	alarmed_tid = gettid();
	alarmed_in = number;
	pthread_create(&thread, NULL, send_alarm, NULL);
	return thread;
}

static void in_vfork(void)
{
	int status;
	pid_t child = vfork();

	if (child == 0) {
		poll(NULL, 0, 20);
		_exit(3);
	}
	waitpid(child, &status, 0);
	nanosleep(&brief, NULL);
	printf("vfork: %d\n", WEXITSTATUS(status));
}

static void *sleep_in_thread(void *arg)
{
	usleep(2000);
	return arg;
}

static volatile sig_atomic_t is_child;

static void fork_in_handler(int number)
{
	(void)number;
	if (fork() == 0)
		is_child = 1;
}

static void in_fork(void)
{
	struct sigaction action = {.sa_handler = fork_in_handler};
	pthread_t thread;
	int status;
	pid_t child;

	pthread_create(&thread, NULL, sleep_in_thread, NULL);
	pthread_join(thread, NULL);
	child = fork();
	if (child == 0) {
		nanosleep(&brief, NULL);
		until_process_asleep(getppid());
		exit(4);
	}
	waitpid(child, &status, 0);
	printf("fork: %d\n", WEXITSTATUS(status));
	fflush(stdout);
	sigaction(SIGALRM, &action, NULL);
	thread = alarm_in(SYS_poll);
	poll(NULL, 0, 1000000);
	if (is_child)
		_exit(5);
	wait(&status);
	pthread_join(thread, NULL);
	printf("fork in a handler: %d\n", WEXITSTATUS(status));
}

static void *sleep_without_tsc(void *arg)
{
	printf("prctl: %d\n", prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0));
	syscall(SYS_nanosleep, &brief, NULL);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &brief, NULL);
	read(-1, NULL, 0);
	printf("prctl: %d\n", prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0));
	return arg;
}

static void in_tsc(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, sleep_without_tsc, NULL);
	pthread_join(thread, NULL);
}

static sigjmp_buf out;

static void leave(int number)
{
	siglongjmp(out, number);
}

static void in_jump(void)
{
	struct sigaction action = {.sa_handler = leave};
	pthread_t thread;

	sigaction(SIGALRM, &action, NULL);
	thread = alarm_in(SYS_pause);
	if (sigsetjmp(out, 1) == 0)
		pause();
	pthread_join(thread, NULL);
	printf("jumped\n");
	nanosleep(&brief, NULL);
}

static void end_thread(int number)
{
	(void)number;
	pthread_exit((void *)6);
}

static volatile int waiting_tid;

static void *wait_in_thread(void *arg)
{
	sigset_t none;

	waiting_tid = gettid();
	sigemptyset(&none);
	sigsuspend(&none);
	return arg;
}

static void in_exit(void)
{
	struct sigaction action = {.sa_handler = end_thread};
	pthread_t thread;
	sigset_t set;
	void *value;

	sigaction(SIGUSR1, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&thread, NULL, wait_in_thread, NULL);
	while (waiting_tid == 0)
		sched_yield();
	until_blocked(waiting_tid, SYS_rt_sigsuspend);
	usleep(2000);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, &value);
	printf("exit: %ld\n", (long)value);
}

#ifdef NAMES
/* In the library. */
double send(double, double, long, long, long, long, long, long, long, long);
struct large {
	long part[5];
} accept(long);

double splice(double a)
{
	return 2 * a;
}

static void in_names(void)
{
	printf("names: %g %ld %g\n", send(0.5, 1.5, 1, 2, 3, 4, 5, 6, 7, 8), accept(7).part[4],
	       splice(1.25));
}
#else
static void in_names(void)
{
}
#endif

static void in_killed(void)
{
	alarm_in(SYS_poll);
	poll(NULL, 0, 1000000);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} ways[] = {{"vfork", in_vfork},  {"fork", in_fork}, {"tsc", in_tsc},
		    {"jump", in_jump},	  {"exit", in_exit}, {"names", in_names},
		    {"killed", in_killed}};

	for (unsigned i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(ways[i].name, argv[1]) == 0)
			ways[i].function();
	return 0;
}
