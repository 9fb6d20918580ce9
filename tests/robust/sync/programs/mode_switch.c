/* SPDX-License-Identifier: MIT */
/*
 * mode_switch PAIRS ROUNDS: each of two threads locks a mutex of its own PAIRS times.  Then, ROUNDS
 * times for each kind of object, the first thread makes the second one wait until the kernel shows
 * it asleep: for a mutex, for a mutex held inside another, a read-write lock, a semaphore and a
 * condition.  Between the rounds both threads lock their own mutexes again.
 *
 * Prints a line for each object: its name, its address, the number of waits, and the least and the
 * greatest time in ns that the waits can have lasted in all.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAIRS_BETWEEN 200

enum { MUTEX, NESTED, RWLOCK, SEM, COND, N_KINDS };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, outer = PTHREAD_MUTEX_INITIALIZER,
		       inner = PTHREAD_MUTEX_INITIALIZER, of_cond = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static bool told;

static atomic_int turn = -1; /* the kind that the waiter is to wait for; -1: it is done */
static atomic_int waiter_tid;
static atomic_bool begun;
static long n_pairs, n_rounds;
static int64_t least_ns[N_KINDS], most_ns[N_KINDS];

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void lock_alone(pthread_mutex_t *own, long n)
{
	while (n-- > 0) {
		pthread_mutex_lock(own);
		pthread_mutex_unlock(own);
	}
}

static void wait_for(int kind)
{
	switch (kind) {
	case MUTEX:
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		break;
	case NESTED:
		pthread_mutex_lock(&inner);
		pthread_mutex_unlock(&inner);
		break;
	case RWLOCK:
		pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
		break;
	case SEM:
		sem_wait(&sem);
		break;
	default:
		pthread_mutex_lock(&of_cond);
		while (!told)
			pthread_cond_wait(&cond, &of_cond);
		told = false;
		pthread_mutex_unlock(&of_cond);
		break;
	}
}

static void *waits(void *arg)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

	waiter_tid = (int)syscall(SYS_gettid);
	lock_alone(&own, n_pairs);
	begun = true;
	for (long i = 0; i < n_rounds * N_KINDS; i++) {
		int64_t begin_ns;
		int kind;

		while ((kind = turn) < 0)
			sched_yield();
		begin_ns = now_ns();
		wait_for(kind);
		most_ns[kind] += now_ns() - begin_ns;
		turn = -1;
		lock_alone(&own, PAIRS_BETWEEN);
	}
	return arg;
}

static const struct {
	const void *object;
	size_t size;
} waited_for[N_KINDS] = {
    [MUTEX] = {&mutex, sizeof(mutex)},	  [NESTED] = {&inner, sizeof(inner)},
    [RWLOCK] = {&rwlock, sizeof(rwlock)}, [SEM] = {&sem, sizeof(sem)},
    [COND] = {&cond, sizeof(cond)},
};

/* Looks for a futex inside the object, because the libraries' own code may sleep, too. */
static bool is_asleep(int kind)
{
	uintptr_t object = (uintptr_t)waited_for[kind].object;
	char path[64], text[64], *end;
	unsigned long address;
	FILE *file;
	bool read;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", waiter_tid);
	file = fopen(path, "r");
	if (!file)
		return false;
	read = fgets(text, sizeof(text), file) != NULL;
	fclose(file);
	if (!read || strtol(text, &end, 10) != SYS_futex)
		return false; /* "running" is no number */
	address = strtoul(end, NULL, 16);
	return address >= object && address < object + waited_for[kind].size;
}

/* Makes the waiter wait for this kind of object; returns the time at which it sleeps. */
static int64_t let_wait(int kind)
{
	turn = kind;
	while (!is_asleep(kind))
		sched_yield();
	return now_ns();
}

static void hold_mutex(void)
{
	int64_t since_ns;

	pthread_mutex_lock(&mutex);
	since_ns = let_wait(MUTEX);
	least_ns[MUTEX] += now_ns() - since_ns;
	pthread_mutex_unlock(&mutex);
}

static void hold_nested(void)
{
	int64_t since_ns;

	pthread_mutex_lock(&outer);
	pthread_mutex_lock(&inner);
	since_ns = let_wait(NESTED);
	least_ns[NESTED] += now_ns() - since_ns;
	pthread_mutex_unlock(&inner);
	pthread_mutex_unlock(&outer);
}

static void hold_rwlock(void)
{
	int64_t since_ns;

	pthread_rwlock_wrlock(&rwlock);
	since_ns = let_wait(RWLOCK);
	least_ns[RWLOCK] += now_ns() - since_ns;
	pthread_rwlock_unlock(&rwlock);
}

static void post(void)
{
	int64_t since_ns = let_wait(SEM);

	least_ns[SEM] += now_ns() - since_ns;
	sem_post(&sem);
}

static void tell(void)
{
	int64_t since_ns = let_wait(COND);

	least_ns[COND] += now_ns() - since_ns;
	pthread_mutex_lock(&of_cond);
	told = true;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&of_cond);
}

int main(int argc, char **argv)
{
	static void (*const makes_wait[N_KINDS])(void) = {hold_mutex, hold_nested, hold_rwlock,
							  post, tell};
	static const char *const names[N_KINDS] = {"mutex", "inner", "rwlock", "sem", "cond"};
	static const void *const objects[N_KINDS] = {&mutex, &inner, &rwlock, &sem, &cond};
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	pthread_t waiter;

	if (argc != 3)
		return 2;
	n_pairs = atol(argv[1]);
	n_rounds = atol(argv[2]);
	sem_init(&sem, 0, 0);
	/* These waits find the semaphore posted and take no time. */
	for (int i = 0; i < 100; i++) {
		sem_post(&sem);
		sem_wait(&sem);
	}
	pthread_create(&waiter, NULL, waits, NULL);
	lock_alone(&own, n_pairs);
	while (!begun)
		sched_yield();
	for (long i = 0; i < n_rounds * N_KINDS; i++) {
		makes_wait[i % N_KINDS]();
		while (turn >= 0)
			sched_yield();
		lock_alone(&own, PAIRS_BETWEEN);
	}
	pthread_join(waiter, NULL);
	for (int i = 0; i < N_KINDS; i++)
		printf("%s 0x%lx %ld %ld %ld\n", names[i], (unsigned long)objects[i], n_rounds,
		       (long)least_ns[i], (long)most_ns[i]);
	return 0;
}
