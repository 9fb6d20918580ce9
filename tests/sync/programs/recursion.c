/* SPDX-License-Identifier: MIT */
/* recursion DEPTH: waits in the innermost of so many calls of descend(). */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile int calls;

/* calls++ prevents a tail call. */
__attribute__((noinline, noclone)) static void await(void)
{
	static const struct timespec past = {1, 0};

	assert(pthread_cond_timedwait(&cond, &mutex, &past) == ETIMEDOUT);
	calls++;
}

__attribute__((noinline, noclone)) static void descend(int n)
{
	if (n > 1)
		descend(n - 1);
	else
		await();
	calls++;
}

int main(int argc, char **argv)
{
	assert(argc == 2);
	pthread_mutex_lock(&mutex);
	descend(atoi(argv[1]));
	pthread_mutex_unlock(&mutex);
	return 9;
}
