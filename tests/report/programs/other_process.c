/* SPDX-License-Identifier: MIT */
/*
 * Holds a mutex in shared memory until a forked child waits for it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
	pthread_mutex_t mutex;
	bool is_held; /* by the parent */
};

/* glibc's lock word is 2 while a thread sleeps. */
static void hold_until_waited_for(struct shared *shared)
{
	pthread_mutex_lock(&shared->mutex);
	__atomic_store_n(&shared->is_held, true, __ATOMIC_RELEASE);
	while (__atomic_load_n(&shared->mutex.__data.__lock, __ATOMIC_RELAXED) != 2)
		sched_yield();
	pthread_mutex_unlock(&shared->mutex);
}

static void wait_for_parent(struct shared *shared)
{
	while (!__atomic_load_n(&shared->is_held, __ATOMIC_ACQUIRE))
		sched_yield();
	pthread_mutex_lock(&shared->mutex);
	pthread_mutex_unlock(&shared->mutex);
}

int main(void)
{
	struct shared *shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attributes;
	pid_t child;
	int status;

	if (shared == MAP_FAILED)
		return 1;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->mutex, &attributes);
	child = fork();
	if (child == 0) {
		wait_for_parent(shared);
		return 0;
	}
	if (child < 0)
		return 1;
	hold_until_waited_for(shared);
	return waitpid(child, &status, 0) != child || status != 0;
}
