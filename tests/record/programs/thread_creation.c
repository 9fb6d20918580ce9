/* SPDX-License-Identifier: MIT */
/*
 * thread_creation: creates threads in every way except pthread_create(). Each sleeps SLEEPS
 * times; the program prints a line for each, with the kernel's count of its voluntary switches in
 * that time:
 *
 *	task TID HOW switches N
 *
 * thread_creation storm THREADS PROCESSES: creates as many short threads and processes, 50 at a
 * time; prints "lives N".
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLEEPS	    20
#define STACK_BYTES (64 << 10)
#define AT_A_TIME   50

static char *self;

static void say(long tid, const char *how, long switches)
{
	dprintf(STDOUT_FILENO, "task %ld %s switches %ld\n", tid, how, switches);
}

static long switches_of(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return usage.ru_nvcsw;
}

static void sleep_ms(void)
{
	nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* Number of switches of this thread. */
static long sleep_often(void)
{
	long before = switches_of(RUSAGE_THREAD);

	for (int i = 0; i < SLEEPS; i++)
		sleep_ms();
	return switches_of(RUSAGE_THREAD) - before;
}

/* --- a thread by clone() alone: without a thread descriptor, so without libc --- */

static volatile int raw_done, raw_may_end;

static long raw_syscall(long number, const volatile void *a, long b)
{
	register long timeout __asm__("r10") = 0;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(0L), "r"(timeout)
			 : "rcx", "r11", "memory");
	return result;
}

/* At its end it sleeps until its state has been read. */
static int raw_thread(void *arg)
{
	const struct timespec *moment = arg;

	for (int i = 0; i < SLEEPS; i++)
		raw_syscall(SYS_nanosleep, moment, 0);
	raw_done = 1;
	while (!raw_may_end)
		raw_syscall(SYS_futex, &raw_may_end, FUTEX_WAIT);
	raw_syscall(SYS_exit, NULL, 0);
	return 0;
}

static long voluntary_of(int tid)
{
	char path[64], line[256];
	long n = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "voluntary_ctxt_switches: %ld", &n);
	if (file)
		fclose(file);
	return n;
}

static void clone_raw(void)
{
	static const struct timespec moment = {0, 1000000};
	char *stack = malloc(STACK_BYTES);
	int tid =
	    clone(raw_thread, stack + STACK_BYTES,
		  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
		  (void *)&moment);

	if (tid < 0)
		exit(1);
	while (!raw_done)
		sleep_ms();
	say(tid, "clone", voluntary_of(tid));
	raw_may_end = 1;
	syscall(SYS_futex, &raw_may_end, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* --- processes --- */

static void with_vfork(void)
{
	static volatile long switches;
	pid_t child = vfork();

	if (child == 0) {
		switches = sleep_often();
		_exit(0);
	}
	say(child, "vfork", switches);
	waitpid(child, NULL, 0);
}

static void *exec_self(void *arg)
{
	execl(self, self, "slept", NULL);
	return arg;
}

/* A thread that is not the main thread calls exec; it takes over the main thread's id. */
static void exec_by_thread(void)
{
	pid_t child = fork();

	if (child == 0) {
		pthread_t thread;

		pthread_create(&thread, NULL, exec_self, NULL);
		for (;;)
			pause();
	}
	waitpid(child, NULL, 0);
}

static void with_daemon(void)
{
	char none;
	int fds[2];
	pid_t child;

	if (pipe(fds))
		exit(1);
	child = fork();
	if (child == 0) {
		if (daemon(1, 1))
			_exit(1);
		say(getpid(), "daemon", sleep_often());
		_exit(0);
	}
	close(fds[1]);
	waitpid(child, NULL, 0);
	while (read(fds[0], &none, 1) > 0)
		;
	close(fds[0]);
}

/* --- a thread of the kernel's that works for the program --- */

/* A thread other than this one; -1: none. */
static int other_thread(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	int tid = -1;

	while (tasks && (entry = readdir(tasks)))
		if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != getpid())
			tid = atoi(entry->d_name);
	if (tasks)
		closedir(tasks);
	return tid;
}

/* It sleeps after a millisecond without work. */
static void with_io_uring(void)
{
	struct io_uring_params params = {.flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 1};
	int fd, tid;

	while (other_thread() > 0) /* the one of clone_raw() */
		sleep_ms();
	fd = (int)syscall(SYS_io_uring_setup, 4, &params);
	if (fd < 0)
		return;
	tid = other_thread(); /* before Linux 5.12 not a thread of the process */
	for (int i = 0; tid > 0 && i < SLEEPS; i++) {
		while (voluntary_of(tid) <= i)
			sleep_ms();
		syscall(SYS_io_uring_enter, fd, 0, 0, IORING_ENTER_SQ_WAKEUP, NULL, 0);
	}
	if (tid > 0)
		say(tid, "io_uring", voluntary_of(tid));
	close(fd);
}

/* --- many --- */

static void *live(void *barrier)
{
	pthread_barrier_wait(barrier);
	return NULL;
}

static void storm(int threads, int processes)
{
	pthread_t ids[AT_A_TIME];
	pthread_barrier_t barrier;

	pthread_barrier_init(&barrier, NULL, AT_A_TIME);
	for (int i = 0; i < threads / AT_A_TIME; i++) {
		for (int k = 0; k < AT_A_TIME; k++)
			if (pthread_create(&ids[k], NULL, live, &barrier))
				exit(1);
		for (int k = 0; k < AT_A_TIME; k++)
			pthread_join(ids[k], NULL);
	}
	for (int i = 0; i < processes; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			exit(1);
	}
	dprintf(STDOUT_FILENO, "lives %d\n", threads / AT_A_TIME * AT_A_TIME + processes);
}

int main(int argc, char **argv)
{
	long before = switches_of(RUSAGE_THREAD);

	self = argv[0];
	if (argc > 3) {
		storm(atoi(argv[2]), atoi(argv[3]));
		return 0;
	}
	if (argc > 1) {
		say(getpid(), "exec", sleep_often());
		return 0;
	}
	clone_raw();
	with_vfork();
	exec_by_thread();
	with_daemon();
	with_io_uring();
	say(getpid(), "main", switches_of(RUSAGE_THREAD) - before);
	return 0;
}
