/* SPDX-License-Identifier: MIT */
/*
 * Robust mutexes whose owner is a process that ends, in each way, or executes another program: all
 * held mutexes are passed on, unlocked ones are free; another process waits meanwhile, or comes
 * later.
 */
#define _GNU_SOURCE
#include "../wait_blocked.h"
#include "behaviour.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define N 6

enum end { BY__EXIT, BY_EXIT, BY_SIGKILL, BY_ABORT, BY_EXEC, BY_THREADS, N_ENDS };

struct shared {
	pthread_mutex_t mutexes[N];
	pthread_cond_t cond;
	sem_t locked, go;
};

static struct shared *shared;

static void *lock_two(void *arg)
{
	pthread_mutex_lock(&shared->mutexes[2]);
	pthread_mutex_lock(&shared->mutexes[3]);
	return arg;
}

static _Noreturn void end_now(enum end end)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	switch (end) {
	case BY_EXIT:
		exit(0); /* nothing is left in stdout */
	case BY_SIGKILL:
		kill(getpid(), SIGKILL);
		break;
	case BY_ABORT:
		signal(SIGABRT, SIG_DFL);
		abort();
	case BY_EXEC:
		execl("/bin/true", "true", (char *)NULL);
		break;
	default:
		break;
	}
	_exit(0);
}

static _Noreturn void hold_and_end(enum end end)
{
	for (int i = 0; i < N; i++)
		if (i != 2 && i != 3)
			pthread_mutex_lock(&shared->mutexes[i]);
	if (end == BY_THREADS) /* an ended thread leaves two mutexes, which the process had */
		pthread_join(start(lock_two, NULL), NULL);
	else
		lock_two(NULL);
	pthread_mutex_unlock(&shared->mutexes[1]);
	sem_post(&shared->locked);
	while (sem_wait(&shared->go) != 0)
		;
	end_now(end);
}

static void make(void)
{
	static const int types[N] = {PTHREAD_MUTEX_NORMAL,	PTHREAD_MUTEX_NORMAL,
				     PTHREAD_MUTEX_RECURSIVE,	PTHREAD_MUTEX_ERRORCHECK,
				     PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_MUTEX_NORMAL};
	pthread_condattr_t attributes;

	for (int i = 0; i < N; i++)
		make_mutex(&shared->mutexes[i], types[i], PTHREAD_MUTEX_ROBUST,
			   i >= 3 ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE, 1);
	pthread_condattr_init(&attributes);
	pthread_condattr_setpshared(&attributes, 1);
	CALL(pthread_cond_init(&shared->cond, &attributes));
	CALL(sem_init(&shared->locked, 1, 0));
	CALL(sem_init(&shared->go, 1, 0));
}

static atomic_int waiter;
static struct answer waited;

static void *wait_for_it(void *mutex)
{
	atomic_store(&waiter, gettid());
	ASK(&waited, pthread_mutex_lock(mutex));
	pthread_mutex_consistent(mutex);
	pthread_mutex_unlock(mutex);
	return NULL;
}

static void each_end(enum end end)
{
	const struct timespec real = far_from_now(CLOCK_REALTIME);
	pthread_t thread;
	pid_t pid;
	int status;

	SAY("-- owner ends in way %d", end);
	make();
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		hold_and_end(end);
	CALL(sem_wait(&shared->locked));
	CALL(pthread_mutex_trylock(&shared->mutexes[0]));
	CALL(pthread_mutex_timedlock(&shared->mutexes[5], &past));
	atomic_store(&waiter, 0);
	thread = start(wait_for_it, &shared->mutexes[end % 2 == 0 ? 0 : 5]);
	while (atomic_load(&waiter) == 0)
		usleep(100);
	until_asleep(atomic_load(&waiter));
	CALL(sem_post(&shared->go));
	join(thread);
	tell(&waited);
	if (waitpid(pid, &status, 0) != pid)
		abort();
	CALL(pthread_mutex_lock(&shared->mutexes[0]));
	CALL(pthread_mutex_lock(&shared->mutexes[1])); /* had been unlocked */
	CALL(pthread_mutex_trylock(&shared->mutexes[2]));
	CALL(pthread_mutex_timedlock(&shared->mutexes[3], &real));
	CALL(pthread_mutex_clocklock(&shared->mutexes[4], CLOCK_REALTIME, &real));
	CALL(pthread_mutex_lock(&shared->mutexes[5]));
	for (int i = 0; i < N; i++)
		CALL(pthread_mutex_unlock(&shared->mutexes[i]));
}

void robust_mutexes(void)
{
	shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert(shared != MAP_FAILED);
	for (enum end end = 0; end < N_ENDS; end++)
		each_end(end);
}
