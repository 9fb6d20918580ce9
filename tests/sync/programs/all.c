/* SPDX-License-Identifier: MIT */
/*
 * Calls each traced function a known number of times, in known threads. Prints the counts that the
 * trace must have, as "EVENT COUNT" lines, and the addresses of its objects.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS 3
#define ROUNDS	1000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem;
static int turn;
static long counter;

static struct timespec soon(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	now.tv_nsec += 1000000;
	now.tv_sec += now.tv_nsec / 1000000000;
	now.tv_nsec %= 1000000000;
	return now;
}

static void *work(void *arg)
{
	int self = (int)(long)arg;

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		counter++;
		pthread_mutex_unlock(&mutex);
	}
	pthread_mutex_lock(&mutex);
	while (turn != self)
		pthread_cond_wait(&cond, &mutex);
	turn++;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
	sem_post(&sem);
	return arg;
}

static void timed_ones(void)
{
	struct timespec real, mono;
	pthread_mutexattr_t attributes;
	pthread_mutex_t checked;
	pthread_cond_t never;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
	assert(pthread_mutex_init(&checked, &attributes) == 0);
	assert(pthread_cond_init(&never, NULL) == 0);
	assert(pthread_mutex_trylock(&checked) == 0);
	assert(pthread_mutex_trylock(&checked) == EBUSY);
	assert(pthread_mutex_lock(&checked) == EDEADLK);
	real = soon(CLOCK_REALTIME);
	assert(pthread_cond_timedwait(&never, &checked, &real) == ETIMEDOUT);
	mono = soon(CLOCK_MONOTONIC);
	assert(pthread_cond_clockwait(&never, &checked, CLOCK_MONOTONIC, &mono) == ETIMEDOUT);
	assert(pthread_cond_signal(&never) == 0);
	assert(pthread_mutex_unlock(&checked) == 0);
	assert(pthread_mutex_unlock(&checked) == EPERM);
	assert(pthread_mutex_timedlock(&checked, &real) == 0);
	assert(pthread_mutex_unlock(&checked) == 0);
	assert(pthread_mutex_clocklock(&checked, CLOCK_MONOTONIC, &mono) == 0);
	assert(pthread_mutex_unlock(&checked) == 0);
	assert(pthread_cond_destroy(&never) == 0);
	assert(pthread_mutex_destroy(&checked) == 0);

	real = soon(CLOCK_REALTIME);
	assert(sem_timedwait(&sem, &real) == -1 && errno == ETIMEDOUT);
	mono = soon(CLOCK_MONOTONIC);
	assert(sem_clockwait(&sem, CLOCK_MONOTONIC, &mono) == -1 && errno == ETIMEDOUT);
	assert(sem_trywait(&sem) == -1 && errno == EAGAIN);
	assert(sem_post(&sem) == 0 && sem_trywait(&sem) == 0);
	printf("object checked %p\n", (void *)&checked);
}

static void named_one(void)
{
	char name[64];
	sem_t *named;

	snprintf(name, sizeof(name), "/gprof-mt-test.%d", getpid());
	errno = 0;
	assert(sem_open(name, 0) == SEM_FAILED && errno == ENOENT);
	named = sem_open(name, O_CREAT | O_EXCL, 0600, 7);
	assert(named != SEM_FAILED);
	sem_unlink(name);
	assert(sem_wait(named) == 0);
	assert(sem_close(named) == 0);
}

static sem_t leave, left;

static void *stay(void *arg)
{
	sem_wait(&leave);
	sem_post(&left);
	return arg;
}

static void joins(void)
{
	struct timespec when;
	pthread_t thread;

	sem_init(&leave, 0, 0);
	sem_init(&left, 0, 0);
	pthread_create(&thread, NULL, stay, NULL);
	assert(pthread_tryjoin_np(thread, NULL) == EBUSY);
	when = soon(CLOCK_REALTIME);
	assert(pthread_timedjoin_np(thread, NULL, &when) == ETIMEDOUT);
	when = soon(CLOCK_MONOTONIC);
	assert(pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &when) == ETIMEDOUT);
	sem_post(&leave);
	pthread_join(thread, NULL);

	pthread_create(&thread, NULL, stay, NULL);
	assert(pthread_detach(thread) == 0);
	sem_post(&leave);
	sem_wait(&left);
	sem_wait(&left);
}

/* Holds a lock and releases it once another thread waits for it. */
struct contest {
	sem_t taken;
	int (*lock)(void *), (*unlock)(void *);
	void *object;
	atomic_int tid;
};

static pthread_rwlock_t rwlock;
static pthread_spinlock_t spin;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *contend(void *arg)
{
	struct contest *contest = arg;

	sem_wait(&contest->taken);
	contest->tid = gettid();
	assert(contest->lock(contest->object) == 0);
	assert(contest->unlock(contest->object) == 0);
	return NULL;
}

/* Tells whether the thread sleeps in the kernel or, for a spin lock, has used CPU time. */
static int is_waiting(int tid, int spins)
{
	char path[64], line[512], state = 0, *end;
	unsigned long user = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	assert(file != NULL && fgets(line, sizeof(line), file) != NULL);
	fclose(file);
	end = strrchr(line, ')');
	assert(sscanf(end, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu", &state, &user) == 2);
	return spins ? user > 0 : state == 'S';
}

static void contest(int (*hold)(void *), int (*lock)(void *), int (*unlock)(void *), void *object)
{
	struct contest contest = {.lock = lock, .unlock = unlock, .object = object};
	pthread_t thread;

	sem_init(&contest.taken, 0, 0);
	assert(pthread_create(&thread, NULL, contend, &contest) == 0);
	assert(hold(object) == 0);
	sem_post(&contest.taken);
	while (contest.tid == 0 || !is_waiting(contest.tid, object == (void *)&spin))
		sched_yield();
	assert(unlock(object) == 0);
	assert(pthread_join(thread, NULL) == 0);
}

#define CALL_OF(function, type)                                                                    \
	static int call_##function(void *object)                                                   \
	{                                                                                          \
		return function((type *)object);                                                   \
	}
CALL_OF(pthread_rwlock_rdlock, pthread_rwlock_t)
CALL_OF(pthread_rwlock_wrlock, pthread_rwlock_t)
CALL_OF(pthread_rwlock_unlock, pthread_rwlock_t)
CALL_OF(pthread_spin_lock, pthread_spinlock_t)
CALL_OF(pthread_spin_unlock, pthread_spinlock_t)

static sem_t in_routine;
static atomic_int once_tid;

static void routine(void)
{
	sem_post(&in_routine);
	while (once_tid == 0 || !is_waiting(once_tid, 0))
		sched_yield();
}

static void *second(void *arg)
{
	sem_wait(&in_routine);
	once_tid = gettid();
	assert(pthread_once(&once, routine) == 0);
	return arg;
}

static void other_locks(void)
{
	struct timespec when = soon(CLOCK_REALTIME);
	pthread_t thread;

	printf("object rwlock %p\nobject spin %p\nobject once %p\n", (void *)&rwlock, (void *)&spin,
	       (void *)&once);
	assert(pthread_rwlock_init(&rwlock, NULL) == 0);
	assert(pthread_rwlock_tryrdlock(&rwlock) == 0);
	assert(pthread_rwlock_trywrlock(&rwlock) == EBUSY);
	assert(pthread_rwlock_timedwrlock(&rwlock, &when) == ETIMEDOUT);
	assert(pthread_rwlock_unlock(&rwlock) == 0);
	contest(call_pthread_rwlock_rdlock, call_pthread_rwlock_wrlock, call_pthread_rwlock_unlock,
		&rwlock);
	contest(call_pthread_rwlock_wrlock, call_pthread_rwlock_rdlock, call_pthread_rwlock_unlock,
		&rwlock);
	assert(pthread_rwlock_destroy(&rwlock) == 0);
	assert(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0);
	assert(pthread_spin_trylock(&spin) == 0);
	assert(pthread_spin_trylock(&spin) == EBUSY);
	assert(pthread_spin_unlock(&spin) == 0);
	contest(call_pthread_spin_lock, call_pthread_spin_lock, call_pthread_spin_unlock,
		(void *)&spin);
	assert(pthread_spin_destroy(&spin) == 0);
	sem_init(&in_routine, 0, 0);
	assert(pthread_create(&thread, NULL, second, NULL) == 0);
	assert(pthread_once(&once, routine) == 0);
	assert(pthread_once(&once, routine) == 0);
	assert(pthread_join(thread, NULL) == 0);
}

int main(void)
{
	pthread_t threads[THREADS];

	printf("object mutex %p\nobject sem %p\n", (void *)&mutex, (void *)&sem);
	pthread_barrier_init(&barrier, NULL, THREADS);
	sem_init(&sem, 0, 0);
	for (long i = 0; i < THREADS; i++)
		assert(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
	for (int i = 0; i < THREADS; i++)
		assert(sem_wait(&sem) == 0);
	for (long i = 0; i < THREADS; i++) {
		void *value;

		assert(pthread_join(threads[i], &value) == 0 && value == (void *)i);
	}
	assert(pthread_barrier_destroy(&barrier) == 0);
	assert(counter == THREADS * ROUNDS);
	timed_ones();
	named_one();
	joins();
	other_locks();
	assert(sem_destroy(&sem) == 0);
	printf("pid %d\n", getpid());
	return 42;
}
