/* SPDX-License-Identifier: MIT */
/*
 * A handler posts and tries a lock at any instant of a thread that locks all the time; on the
 * thread's stack or, with "stack", on one of its own. With "jump" it leaves by siglongjmp(). Prints
 * the number of each operation; an event of each must be recorded.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#define SIGNALS 60

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;
static sem_t sem, main_sem;
static volatile long posts, tries, locks, main_posts, wrong;
static volatile sig_atomic_t jumps;
static sigjmp_buf again;

static void on_signal(int signal)
{
	int saved = errno;

	(void)signal;
	if (jumps) {
		posts++;
		sem_post(&sem);
		siglongjmp(again, 1);
	}
	errno = 4711;
	if (sem_post(&sem) != 0 || errno != 4711)
		wrong++;
	posts++;
	if (pthread_mutex_trylock(&own) != 0 || pthread_mutex_unlock(&own) != 0)
		wrong++;
	tries++;
	errno = saved;
}

int main(int argc, char **argv)
{
	static char other[65536];
	struct sigaction action = {.sa_handler = on_signal};
	struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	stack_t stack = {.ss_sp = other, .ss_size = sizeof(other)};

	jumps = argc > 1 && strcmp(argv[1], "jump") == 0;
	if (argc > 1 && strcmp(argv[1], "stack") == 0) {
		sigaltstack(&stack, NULL);
		action.sa_flags = SA_ONSTACK;
	}
	sem_init(&sem, 0, 0);
	sem_init(&main_sem, 0, 0);
	sigaction(SIGALRM, &action, NULL);
	if (sigsetjmp(again, 1) == 0)
		setitimer(ITIMER_REAL, &often, NULL); /* only after sigsetjmp() */
	while (posts < SIGNALS) {
		if (jumps) { /* sem_post() is safe to jump out of */
			sem_post(&main_sem);
			main_posts++;
			continue;
		}
		pthread_mutex_lock(&mutex);
		locks++;
		pthread_mutex_unlock(&mutex);
		errno = 7;
		sem_post(&main_sem);
		main_posts++;
		if (errno != 7)
			wrong++;
	}
	jumps = 0;
	setitimer(ITIMER_REAL, &never, NULL);
	printf("posts %ld %p\n", posts, (void *)&sem);
	printf("tries %ld %p\n", tries, (void *)&own);
	printf("locks %ld %p\n", locks, (void *)&mutex);
	printf("main_posts %ld %p\n", main_posts, (void *)&main_sem);
	return wrong != 0;
}
