/* SPDX-License-Identifier: MIT */
/*
 * Cases of critical sections that are executed in single steps. Each one prints what the program
 * sees, which must be the same without steps. Arguments: names of cases; none: all of them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile int counter, n_handled;
static volatile char *page;
static sigjmp_buf back;

static void lock(void)
{
	pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

static void work(int n)
{
	for (int i = 0; i < n; i++)
		counter++;
}

/* --- signals ---------------------------------------------------------------------------------- */

static void count(int signal)
{
	(void)signal;
	n_handled++;
}

static void lock_in_handler(int signal)
{
	(void)signal;
	pthread_mutex_lock(&other);
	n_handled++;
	pthread_mutex_unlock(&other);
}

static void jump(int signal)
{
	(void)signal;
	n_handled++;
	siglongjmp(back, 1);
}

static void in_handler(void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	sigaction(SIGUSR1, &action, NULL);
	n_handled = 0;
	lock();
	work(5);
	raise(SIGUSR1);
	work(5);
	unlock();
	printf("%d handled\n", n_handled);
}

static void signals(void)
{
	in_handler(count, 0);
}

static void handler_locks(void)
{
	in_handler(lock_in_handler, 0);
}

static void handler_jumps(void)
{
	struct sigaction action = {.sa_handler = jump};

	sigaction(SIGUSR1, &action, NULL);
	n_handled = 0;
	lock();
	if (sigsetjmp(back, 1) == 0) {
		work(5);
		raise(SIGUSR1);
	}
	work(5);
	unlock();
	printf("%d jumped\n", n_handled);
}

static void alternate_stack(void)
{
	static char memory[65536];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};

	sigaltstack(&stack, NULL);
	in_handler(lock_in_handler, SA_ONSTACK);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
}

static void timer_signals(void)
{
	struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
	timer_t timer;
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec times = {{0, 200000}, {0, 200000}};

	sigaction(SIGUSR1, &action, NULL);
	n_handled = counter = 0;
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &times, NULL);
	while (n_handled < 20) {
		lock();
		work(20);
		unlock();
	}
	timer_delete(timer);
	printf("%d\n", counter % 20);
}

static void blocked(void)
{
	sigset_t all, old;

	sigfillset(&all);
	lock();
	work(3);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	work(3);
	unlock();
	lock();
	work(3);
	unlock();
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	printf("%d\n", sigismember(&old, SIGTRAP));
}

/* --- SIGTRAP ---------------------------------------------------------------------------------- */

static void on_trap(int signal, siginfo_t *info, void *context)
{
	ucontext_t *own = context;

	n_handled++;
	printf("trap %d %d %llx\n", signal, info->si_code, own->uc_mcontext.gregs[REG_EFL] & 0x100);
}

static void traps(void)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, old;

	sigaction(SIGTRAP, NULL, &old);
	printf("before: %d %d\n", old.sa_handler == SIG_DFL, old.sa_flags);
	lock();
	work(3);
	sigaction(SIGTRAP, &action, &old);
	printf("old: %d\n", old.sa_handler == SIG_DFL);
	__asm__ volatile("int3");
	work(3);
	unlock();
	raise(SIGTRAP);
	sigaction(SIGTRAP, NULL, &old);
	printf("now: %d %d\n", old.sa_sigaction == on_trap, old.sa_flags);
	printf("signal: %d\n", signal(SIGTRAP, SIG_IGN) == (__sighandler_t)(void *)on_trap);
	raise(SIGTRAP);
	printf("ignored: %d\n", signal(SIGTRAP, SIG_DFL) == SIG_IGN);
}

static int status_of(void (*run)(void))
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		run();
		_exit(0);
	}
	waitpid(child, &status, 0);
	return status & 0x7f ? 1000 + (status & 0x7f) : WEXITSTATUS(status);
}

static void breakpoint(void)
{
	lock();
	work(3);
	__asm__ volatile("int3");
	unlock();
}

static void undefined(void)
{
	lock();
	work(3);
	__asm__ volatile("ud2");
	unlock();
}

static void divide(void)
{
	lock();
	counter = 1000 / (counter - counter);
	unlock();
}

static void null_read(void)
{
	lock();
	counter = *(volatile int *)8;
	unlock();
}

static void null_write(void)
{
	lock();
	*(volatile int *)8 = 3;
	unlock();
}

static void null_call(void)
{
	lock();
	((void (*)(void))(uintptr_t)counter)();
	unlock();
}

static void exits(void)
{
	lock();
	work(3);
	exit(7);
}

static void exits_at_once(void)
{
	lock();
	work(3);
	_exit(8);
}

static void aborts(void)
{
	lock();
	abort();
}

static void executes(void)
{
	lock();
	work(2);
	execl("/bin/sh", "sh", "-c", "exit 9", NULL);
}

static void deadly(void)
{
	counter = 0;
	printf("%d %d %d", status_of(breakpoint), status_of(undefined), status_of(divide));
	printf(" %d %d %d", status_of(null_read), status_of(null_write), status_of(null_call));
	printf(" %d %d %d %d\n", status_of(exits), status_of(exits_at_once), status_of(aborts),
	       status_of(executes));
}

/* --- faults that the program handles ---------------------------------------------------------- */

static void on_fault(int signal, siginfo_t *info, void *context)
{
	ucontext_t *own = context;

	(void)signal;
	n_handled++;
	printf("fault at %td, %d\n", (char *)info->si_addr - page,
	       (int)(own->uc_mcontext.gregs[REG_ERR] & 2));
	mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
}

static void faults(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	sigaction(SIGSEGV, &action, NULL);
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	lock();
	page[70] = 1;
	unlock();
	mprotect((void *)page, 4096, PROT_NONE);
	lock();
	page[80]++;
	unlock();
	mprotect((void *)page, 4096, PROT_NONE);
	lock();
	page[90] = 5;
	work(3);
	unlock();
	printf("%d %d %d\n", page[70], page[80], page[90]);
	munmap((void *)page, 4096);
}

static void unmaps(void)
{
	for (int i = 0; i < 3; i++) {
		lock();
		page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		page[0] = page[4096] = 1;
		munmap((void *)page, 4096);
		page[4097]++;
		munmap((void *)(page + 4096), 4096);
		unlock();
	}
	puts("unmapped");
}

/* --- jumps, processes, threads ---------------------------------------------------------------- */

static void jumps(void)
{
	jmp_buf env;

	lock();
	if (setjmp(env) == 0) {
		work(3);
		longjmp(env, 1);
	}
	work(3);
	unlock();
	puts("jumped");
}

static void forks(void)
{
	int status;
	pid_t child;

	fflush(stdout);
	lock();
	work(2);
	child = fork();
	if (child == 0) {
		work(2);
		unlock();
		lock();
		work(2);
		unlock();
		_exit(3);
	}
	work(2);
	waitpid(child, &status, 0);
	unlock();
	printf("child: %d\n", WEXITSTATUS(status));
}

static void vforks(void)
{
	int status;
	pid_t child;

	lock();
	child = vfork();
	if (child == 0)
		_exit(4);
	waitpid(child, &status, 0);
	unlock();
	printf("child: %d\n", WEXITSTATUS(status));
}

static void *ends_in_section(void *unused)
{
	lock();
	work(2);
	pthread_mutex_unlock(&mutex);
	lock();
	work(2);
	pthread_exit(unused);
}

static void *is_cancelled(void *unused)
{
	pthread_mutex_lock(&other);
	pthread_cleanup_push((void (*)(void *))pthread_mutex_unlock, &other);
	work(2);
	pthread_cond_signal(&cond);
	for (;;)
		pause();
	pthread_cleanup_pop(0);
	return unused;
}

static void *async(void *unused)
{
	int old;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	pthread_mutex_lock(&other);
	pthread_cleanup_push((void (*)(void *))pthread_mutex_unlock, &other);
	counter = -1;
	for (;;)
		work(1);
	pthread_cleanup_pop(0);
	return unused;
}

static void *nothing(void *unused)
{
	lock();
	work(10);
	unlock();
	return unused;
}

static void threads(void)
{
	pthread_t thread;
	void *value;

	pthread_create(&thread, NULL, ends_in_section, (void *)&counter);
	pthread_join(thread, &value);
	printf("%d %d\n", value == &counter, pthread_mutex_trylock(&mutex));
	memset(&mutex, 0, sizeof(mutex));
	pthread_create(&thread, NULL, is_cancelled, NULL);
	usleep(1000);
	pthread_cancel(thread);
	pthread_join(thread, &value);
	printf("%d\n", value == PTHREAD_CANCELED);
	counter = 0;
	pthread_create(&thread, NULL, async, NULL);
	while (counter == 0)
		sched_yield();
	pthread_cancel(thread);
	pthread_join(thread, &value);
	printf("%d\n", value == PTHREAD_CANCELED);
	lock();
	pthread_create(&thread, NULL, nothing, NULL);
	unlock();
	pthread_join(thread, NULL);
}

static void *on_small_stack(void *unused)
{
	for (int i = 0; i < 20; i++) {
		lock();
		work(5);
		unlock();
	}
	return unused;
}

/* The memory around a stack of the program's own stays as it was. */
static void small_stacks(void)
{
	static _Alignas(4096) unsigned char memory[3 * 65536];
	pthread_attr_t attributes;
	pthread_t thread;
	size_t bad = 0;

	memset(memory, 0x5a, sizeof(memory));
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, memory + 65536, 16384);
	pthread_create(&thread, &attributes, on_small_stack, NULL);
	pthread_join(thread, NULL);
	pthread_attr_setstacksize(&attributes, 16384);
	pthread_attr_destroy(&attributes);
	for (size_t i = 0; i < sizeof(memory); i++)
		bad += (i < 65536 || i >= 65536 + 16384) && memory[i] != 0x5a;
	printf("%zu bytes have changed\n", bad);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 16384);
	pthread_create(&thread, &attributes, on_small_stack, NULL);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
}

/* A coroutine on a stack that is too small for a signal handler. */
static _Alignas(16) unsigned char coroutine[65536 + 2048];
static void *saved_stack;

__attribute__((noinline)) static void on_coroutine(void)
{
	void *top = coroutine + sizeof(coroutine) - 64;

	__asm__ volatile("movq %%rsp, %0\n\t"
			 "movq %1, %%rsp\n\t"
			 "incl %2\n\t"
			 "incl %2\n\t"
			 "pushq %%rax\n\t"
			 "popq %%rax\n\t"
			 "movq %0, %%rsp"
			 : "+m"(saved_stack)
			 : "r"(top), "m"(counter)
			 : "memory", "cc");
}

static void coroutines(void)
{
	size_t bad = 0;

	memset(coroutine, 0x5a, sizeof(coroutine));
	lock();
	on_coroutine();
	unlock();
	for (size_t i = 0; i < 65536; i++)
		bad += coroutine[i] != 0x5a;
	printf("%zu bytes have changed\n", bad);
}

/* --- instructions ----------------------------------------------------------------------------- */

static void flags(void)
{
	uint64_t now, after;

	lock();
	__asm__ volatile("pushfq; popq %0; pushq %0; popfq; pushfq; popq %1"
			 : "=&r"(now), "=&r"(after)
			 :
			 : "memory", "cc");
	work(1);
	unlock();
	printf("%llx %llx\n", (unsigned long long)now & 0x100, (unsigned long long)after & 0x100);
}

static void errors(void)
{
	errno = 0;
	lock();
	(void)!write(-1, "", 1);
	unlock();
	printf("%d\n", errno);
	errno = 42;
	lock();
	work(3);
	unlock();
	printf("%d\n", errno);
}

static void vectors(void)
{
	double sum = 0;
	char text[64];

	for (int i = 0; i < 50; i++) {
		lock();
		sum += i * 0.1;
		sum *= 1.01;
		unlock();
	}
	lock();
	snprintf(text, sizeof(text), "%.6f", sum);
	unlock();
	puts(text);
}

static void waits(void)
{
	struct timespec until;
	int code;

	clock_gettime(CLOCK_REALTIME, &until);
	pthread_mutex_lock(&other);
	lock();
	work(2);
	code = pthread_cond_timedwait(&cond, &mutex, &until);
	work(2);
	unlock();
	work(2);
	pthread_mutex_unlock(&other);
	printf("%d\n", code == ETIMEDOUT);
}

static void heap(void)
{
	char *text;

	lock();
	text = malloc(1000);
	memset(text, 'a', 999);
	text[999] = 0;
	text = realloc(text, 100000);
	counter = (int)strlen(text);
	free(text);
	unlock();
	printf("%d\n", counter);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
#define CASE(name)                                                                                 \
	{                                                                                          \
#name, name                                                                        \
	}
    CASE(signals),	 CASE(handler_locks), CASE(handler_jumps), CASE(alternate_stack),
    CASE(timer_signals), CASE(blocked),	      CASE(deadly),	   CASE(faults),
    CASE(unmaps),	 CASE(jumps),	      CASE(forks),	   CASE(vforks),
    CASE(threads),	 CASE(small_stacks),  CASE(coroutines),	   CASE(flags),
    CASE(errors),	 CASE(vectors),	      CASE(waits),	   CASE(heap),
    CASE(traps),
#undef CASE
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int wanted = argc == 1;

		for (int k = 1; k < argc; k++)
			wanted |= strcmp(argv[k], cases[i].name) == 0;
		if (!wanted)
			continue;
		printf("%s: ", cases[i].name);
		fflush(stdout);
		cases[i].run();
	}
	return 0;
}
