/* SPDX-License-Identifier: MIT */
/*
 * Forks while the forking thread or another holds locks: the state of the locks in the child, and
 * the unchanged state in the parent.
 */
#define _GNU_SOURCE
#include "behaviour.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define N_MUTEXES 12

static pthread_mutex_t locks[N_MUTEXES];
static pthread_rwlock_t read_locked, write_locked;
static pthread_spinlock_t spin;
static pthread_once_t once;
static mtx_t c11_mutex;
static sem_t sem, held, go, *shared_sem;
static bool by_other;

static void make(void)
{
	static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
				    PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP};

	for (int i = 0; i < N_MUTEXES; i++)
		make_mutex(&locks[i], types[i % 4], i / 4 == 2,
			   i / 4 == 1 ? PTHREAD_PRIO_INHERIT : 0, 0);
	CALL(mtx_init(&c11_mutex, mtx_timed));
	CALL(pthread_rwlock_init(&read_locked, NULL));
	CALL(pthread_rwlock_init(&write_locked, NULL));
	CALL(pthread_spin_init(&spin, 0));
	once = (pthread_once_t)PTHREAD_ONCE_INIT;
	CALL(sem_init(&sem, 0, 1));
	sem_init(&held, 0, 0);
	sem_init(&go, 0, 0);
}

static void lock_all(void)
{
	for (int i = 0; i < N_MUTEXES; i++)
		CALL(pthread_mutex_lock(&locks[i]));
	CALL(mtx_lock(&c11_mutex));
	CALL(pthread_rwlock_rdlock(&read_locked));
	CALL(pthread_rwlock_wrlock(&write_locked));
	CALL(pthread_spin_lock(&spin));
	CALL(sem_wait(&sem));
}

static void unlock_all(void)
{
	for (int i = 0; i < N_MUTEXES; i++)
		CALL(pthread_mutex_unlock(&locks[i]));
	CALL(mtx_unlock(&c11_mutex));
	CALL(pthread_rwlock_unlock(&read_locked));
	CALL(pthread_rwlock_unlock(&write_locked));
	CALL(pthread_spin_unlock(&spin));
	CALL(sem_post(&sem));
}

static void no_routine(void)
{
}

/* The state that a thread of the child finds. */
static void *child_thread(void *arg)
{
	for (int i = 0; i < N_MUTEXES; i++)
		CALL(pthread_mutex_trylock(&locks[i]));
	CALL(pthread_rwlock_tryrdlock(&read_locked));
	CALL(pthread_rwlock_trywrlock(&write_locked));
	return arg;
}

static void child(bool plainly)
{
	SAY("child");
	/*
	 * A thread that exists only in the parent had begun the routine: glibc lets it run again.
	 */
	if (!plainly)
		CALL(pthread_once(&once, no_routine));
	for (int i = 0; i < N_MUTEXES; i++) {
		CALL(pthread_mutex_trylock(&locks[i]));
		/* glibc's own answer, or none: a lock of the child's tid, kept by the parent's */
		if (i / 4 == 0)
			CALL(pthread_mutex_timedlock(&locks[i], &past));
	}
	CALL(mtx_trylock(&c11_mutex));
	CALL(mtx_timedlock(&c11_mutex, &past));
	CALL(pthread_rwlock_tryrdlock(&read_locked));
	CALL(pthread_rwlock_timedwrlock(&read_locked, &past));
	CALL(pthread_rwlock_timedrdlock(&write_locked, &past));
	CALL(pthread_spin_trylock(&spin));
	CALL(sem_trywait(&sem));
	join(start(child_thread, NULL));
	if (!by_other)
		unlock_all();
	CALL(sem_post(shared_sem));
	fflush(stdout);
	_exit(0);
}

static void fork_both_ways(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		child(false);
	await_child(pid);
	pid = _Fork();
	if (pid == 0)
		child(true);
	await_child(pid);
	CALL(sem_trywait(shared_sem));
	CALL(sem_trywait(shared_sem));
	CALL(sem_trywait(shared_sem));
}

static void stay_in_routine(void)
{
	lock_all();
	sem_post(&held);
	while (sem_wait(&go) != 0)
		;
	unlock_all();
}

static void *hold(void *arg)
{
	pthread_once(&once, stay_in_routine);
	return arg;
}

/* --- handlers of fork(), which lock ------------------------------------------------------------
 */

static pthread_mutex_t at_fork = PTHREAD_MUTEX_INITIALIZER;
static bool with_handlers;

/* Printed later, since parent and child run at the same time. */
static struct answer before_fork, after_fork;

static void lock_before(void)
{
	if (with_handlers)
		ASK(&before_fork, pthread_mutex_lock(&at_fork));
}

static void unlock_after(void)
{
	if (with_handlers)
		ASK(&after_fork, pthread_mutex_unlock(&at_fork));
}

static void tell_of_handlers(void)
{
	tell(&before_fork);
	tell(&after_fork);
	CALL(pthread_mutex_trylock(&at_fork));
	CALL(pthread_mutex_unlock(&at_fork));
}

static void in_handlers(void)
{
	pid_t pid;

	SAY("-- handlers");
	with_handlers = true;
	pthread_atfork(lock_before, unlock_after, unlock_after);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		tell_of_handlers();
		_exit(0);
	}
	await_child(pid);
	tell_of_handlers();
	with_handlers = false;
}

void forks(void)
{
	pthread_t thread;

	shared_sem = mmap(NULL, sizeof(*shared_sem), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert(shared_sem != MAP_FAILED);
	CALL(sem_init(shared_sem, 1, 0));
	SAY("-- held by the forking thread");
	make();
	lock_all();
	fork_both_ways();
	unlock_all();
	SAY("-- held by another thread");
	by_other = true;
	make();
	thread = start(hold, NULL);
	while (sem_wait(&held) != 0)
		;
	fork_both_ways();
	sem_post(&go);
	join(thread);
	in_handlers();
}
