/* SPDX-License-Identifier: MIT */
/*
 * steps ACTION [new-sites|coarse]: interrupts a lock and an unlock after each of their instructions
 * in turn (a tracing parent counts them and sends a signal); the handler performs ACTION:
 *
 *	handle  posts and locks, more often than a writer can defer
 *	switch  swapcontext() to another context, which posts and locks, and switches back in the
 *	        middle of an operation
 *	jump    posts and leaves by siglongjmp()
 *	fork    forks; the child continues from the handler, posts three times and exits
 *
 * With new-sites, each lock and each unlock has a new call site; then, and with coarse, fewer
 * instructions are interrupted.
 *
 * Prints "WORD N OBJECT" for the operations of each object, all of which must be recorded; for fork
 * "child PID" for each child.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define MANY	      40  /* more than the 32 that a writer can defer */
#define EACH	      120 /* instructions: a lock is over; of what follows, each STRIDEth */
#define STRIDE	      17
#define NEW_STRIDE    83    /* a new site takes some 2,300 instructions, each a stop of 50 us */
#define POSITIONS_MAX 16384 /* of one lock and unlock: 2,300, and 4,200 where UBSan checks them */

static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER, stepped[POSITIONS_MAX];
static sem_t posted;
static char locked[POSITIONS_MAX];
static long n_posts, n_owns;
static const char *action;
static volatile int position, acted;
static int stride = STRIDE;
static volatile pid_t child = -1;
static sigjmp_buf out;
static ucontext_t main_context, other_context;

static void check(int failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "%s failed at instruction %d\n", what, position);
	_exit(1);
}

static void work(int n)
{
	for (int i = 0; i < n; i++) {
		check(sem_post(&posted), "sem_post");
		check(pthread_mutex_lock(&own), "lock");
		check(pthread_mutex_unlock(&own), "unlock");
	}
	n_posts += n;
	n_owns += n;
}

/* Number of instructions until the signal; shared with the tracer. */
static volatile int *steps;

static void interrupt_after(int n)
{
	long result;

	*steps = n;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_kill), "D"(getpid()), "S"(SIGSTOP)
			 : "rcx", "r11", "memory");
}

static pthread_mutex_t other_mutex = PTHREAD_MUTEX_INITIALIZER;
static long n_others;
static volatile int in_other, stepping;

/* The other context works and switches back in the middle of an operation. */
static void other(void)
{
	for (;;) {
		work(MANY / 2);
		stepping = 1;
		interrupt_after(position % 89);
		check(pthread_mutex_lock(&other_mutex), "lock");
		check(pthread_mutex_unlock(&other_mutex), "unlock");
		stepping = 0;
		n_others++;
	}
}

static void switch_to_other(void)
{
	in_other = 1;
	check(swapcontext(&main_context, &other_context), "swapcontext");
}

static void switch_to_main(void)
{
	in_other = 0;
	check(swapcontext(&other_context, &main_context), "swapcontext");
}

static void act(void)
{
	acted = 1;
	if (strcmp(action, "handle") == 0) {
		work(MANY);
	} else if (strcmp(action, "switch") == 0) {
		switch_to_other();
	} else if (strcmp(action, "jump") == 0) {
		work(1);
		siglongjmp(out, 1);
	} else {
		child = fork();
		check(child < 0, "fork");
	}
}

static void interrupted(int number)
{
	(void)number;
	if (in_other)
		switch_to_main();
	else if (stepping)
		act();
}

typedef int call_from(pthread_mutex_t *mutex, int (*function)(pthread_mutex_t *));

/* Copies of push %rbp; mov %rsp, %rbp; call *%rsi; pop %rbp; ret: each is a call site of its own.
 */
static call_from **make_sites(void)
{
	static const unsigned char code[16] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3};
	static call_from *sites[2 * POSITIONS_MAX];
	unsigned char *copies =
	    mmap(NULL, sizeof(code) * 2 * POSITIONS_MAX, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(copies == MAP_FAILED, "mmap");
	for (int i = 0; i < 2 * POSITIONS_MAX; i++) {
		memcpy(copies + i * sizeof(code), code, sizeof(code));
		sites[i] = (call_from *)(void *)(copies + i * sizeof(code));
	}
	return sites;
}

static void step(int i, call_from *const *sites)
{
	call_from *lock = sites ? sites[2 * i] : NULL, *unlock = sites ? sites[2 * i + 1] : NULL;

	stepping = 1;
	interrupt_after(i);
	check(lock ? lock(&stepped[i], pthread_mutex_lock) : pthread_mutex_lock(&stepped[i]),
	      "lock");
	check(unlock ? unlock(&stepped[i], pthread_mutex_unlock)
		     : pthread_mutex_unlock(&stepped[i]),
	      "unlock");
	stepping = 0;
	locked[i] = 1;
}

static void in_child(void)
{
	for (int i = 0; i < 3; i++)
		check(sem_post(&posted), "sem_post");
	_exit(0);
}

static void in_parent(void)
{
	int status = -1;

	printf("child %d\n", (int)child);
	fflush(stdout);
	check(waitpid(child, &status, 0) != child || status != 0, "the child");
	child = -1;
}

static int traced(call_from *const *sites)
{
	static char stack[262144];
	struct sigaction on_signal = {.sa_handler = interrupted};

	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	sem_init(&posted, 0, 0);
	for (int i = 0; i < POSITIONS_MAX; i++)
		pthread_mutex_init(&stepped[i], NULL);
	getcontext(&other_context);
	other_context.uc_stack.ss_sp = stack;
	other_context.uc_stack.ss_size = sizeof(stack);
	makecontext(&other_context, other, 0);
	sigaction(SIGUSR1, &on_signal, NULL);
	work(1);
	do {
		acted = 0;
		if (sigsetjmp(out, 1) == 0)
			step(position, sites);
		stepping = 0;
		if (child == 0)
			in_child();
		if (child > 0)
			in_parent();
		position += position < EACH ? 1 : stride;
	} while (acted && position < POSITIONS_MAX);
	work(2);
	check(position >= POSITIONS_MAX, "the end of the steps");
	for (int i = 0; i < POSITIONS_MAX; i++)
		if (locked[i])
			printf("locks %lx %p\n",
			       sites ? (unsigned long)(uintptr_t)sites[2 * i] + 6 : 1,
			       (void *)&stepped[i]);
	printf("posts %ld %p\n", n_posts, (void *)&posted);
	printf("owns %ld %p\n", n_owns, (void *)&own);
	printf("others %ld %p\n", n_others, (void *)&other_mutex);
	fprintf(stderr, "%d instructions\n", position - 1);
	return 0;
}

/* Single-steps the child on request, and sends it the signal. */
static int trace(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		int number = WSTOPSIG(status);

		if (number == SIGSTOP) {
			number = 0;
			for (int i = 0; i < *steps; i++) {
				ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
				if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
					return 1;
			}
			kill(pid, SIGUSR1);
		}
		ptrace(PTRACE_CONT, pid, NULL, (long)number);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	pid_t pid;

	action = argc > 1 ? argv[1] : "handle";
	if (argc > 2)
		stride = NEW_STRIDE;
	steps =
	    mmap(NULL, sizeof(*steps), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (steps == MAP_FAILED)
		return 1;
	pid = fork();
	if (pid == 0)
		exit(traced(argc > 2 && strcmp(argv[2], "coarse") != 0 ? make_sites() : NULL));
	return trace(pid);
}
