/* SPDX-License-Identifier: MIT */
/*
 * jumps MODE N [stack]: a signal interrupts a thread N times, and its handler leaves by
 * siglongjmp().  With "stack" the handler runs on an alternate stack.
 *
 *	cond    jumps out of pthread_cond_wait(); at the end the thread is cancelled in a wait
 *	exit    the same, but at the end the handler calls pthread_exit() in a wait
 *	wait    jumps out of sem_wait() and pthread_mutex_lock() in turn
 *	post    jumps out of sem_post(), at any instruction
 *	nested  jumps out of sem_post(), from a handler that has called sem_post() itself
 *	cancel  no jumps: N threads are cancelled in pthread_cond_wait()
 *
 * Prints the numbers of jumps, of clean-up handlers run, and of operations.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static pthread_t waiter;
static sigjmp_buf again;
static volatile sig_atomic_t may_jump, may_exit, posts_first;
static volatile long n_jumps, n_handled, n_cleaned;
static sem_t ready, posted, never, from_handler;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static const char *mode;
static long n_wanted;
static int on_stack;

static void set_alarm(long after_us)
{
	struct itimerval once = {{0, 0}, {0, after_us}};

	setitimer(ITIMER_REAL, &once, NULL);
}

static void handler(int number)
{
	(void)number;
	if (posts_first) {
		n_handled++;
		sem_post(&from_handler);
	}
	if (may_exit)
		pthread_exit(NULL);
	if (!may_jump)
		return;
	may_jump = 0;
	n_jumps++;
	siglongjmp(again, 1);
}

static void allow_alarm(int how)
{
	sigset_t alarms;

	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(how, &alarms, NULL);
}

static void set_up(void)
{
	static char memory[65536];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
	struct sigaction action = {.sa_handler = handler, .sa_flags = on_stack ? SA_ONSTACK : 0};

	if (on_stack)
		sigaltstack(&stack, NULL);
	sigaction(SIGALRM, &action, NULL);
	allow_alarm(SIG_UNBLOCK);
}

static void cleaned(void *arg)
{
	(void)arg;
	n_cleaned++;
}

/* Uses a new condition each time, because a jump leaves glibc's state of the condition invalid. */
static void wait_for_signal(void)
{
	pthread_cond_t *cond = malloc(sizeof(*cond));
	pthread_mutex_t *mutex = malloc(sizeof(*mutex));

	pthread_cond_init(cond, NULL);
	pthread_mutex_init(mutex, NULL);
	pthread_mutex_lock(mutex);
	may_jump = n_jumps < n_wanted;
	may_exit = !may_jump && strcmp(mode, "exit") == 0;
	if (may_jump || may_exit)
		set_alarm(20 + n_jumps % 40);
	else
		sem_post(&ready);
	for (;;)
		pthread_cond_wait(cond, mutex);
}

static void *run_conditions(void *arg)
{
	set_up();
	/* A handler registered inside the sigsetjmp() would be left behind by the jump. */
	pthread_cleanup_push(cleaned, NULL);
	sigsetjmp(again, 1);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL); /* glibc's waits change it */
	wait_for_signal();
	pthread_cleanup_pop(0);
	return arg;
}

static void *run_waits(void *arg)
{
	set_up();
	sigsetjmp(again, 1);
	if (n_jumps == n_wanted) {
		sem_post(&ready);
		return arg;
	}
	may_jump = 1;
	set_alarm(20 + n_jumps % 40);
	if (n_jumps % 2 == 0)
		sem_wait(&never);
	else
		pthread_mutex_lock(&held);
	abort();
}

static void test_waits(void *(*run)(void *))
{
	pthread_mutex_lock(&held);
	allow_alarm(SIG_BLOCK);
	pthread_create(&waiter, NULL, run, NULL);
	if (strcmp(mode, "cond") == 0) {
		sem_wait(&ready);
		pthread_cancel(waiter);
	}
	pthread_join(waiter, NULL);
	printf("jumps %ld cleaned %ld\n", n_jumps, n_cleaned);
}

static void test_posts(void)
{
	volatile long n_posts = 0;
	int value;

	set_up();
	posts_first = strcmp(mode, "nested") == 0;
	sigsetjmp(again, 1);
	may_jump = n_jumps < n_wanted;
	if (may_jump)
		set_alarm(1 + n_jumps % 7); /* at another instruction each time */
	while (n_jumps < n_wanted) {
		sem_post(&posted);
		n_posts++;
	}
	sem_getvalue(&from_handler, &value);
	printf("jumps %ld lost posts of handlers %ld\n", n_jumps, n_handled - value);
	sem_getvalue(&posted, &value);
	fprintf(stderr, "handled %ld %p\nposts %d %p\n", n_handled, (void *)&from_handler, value,
		(void *)&posted);
}

static void test_cancel(void)
{
	n_jumps = n_wanted;
	for (long i = 0; i < n_wanted; i++) {
		pthread_create(&waiter, NULL, run_conditions, NULL);
		sem_wait(&ready);
		pthread_cancel(waiter);
		pthread_join(waiter, NULL);
	}
	printf("cleaned %d\n", n_cleaned > 0);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	mode = argv[1];
	n_wanted = atol(argv[2]);
	on_stack = argc > 3;
	sem_init(&ready, 0, 0);
	sem_init(&posted, 0, 0);
	sem_init(&from_handler, 0, 0);
	sem_init(&never, 0, 0);
	if (strcmp(mode, "post") == 0 || strcmp(mode, "nested") == 0)
		test_posts();
	else if (strcmp(mode, "cancel") == 0)
		test_cancel();
	else
		test_waits(strcmp(mode, "wait") == 0 ? run_waits : run_conditions);
	return 0;
}
