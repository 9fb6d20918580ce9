/* SPDX-License-Identifier: MIT */
/*
 * Critical sections whose accesses are known. Prints addresses that the test expects. All functions
 * that sections call are called before, so that none is bound in them.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static _Alignas(64) volatile struct {
	uint64_t counter;
	uint8_t same, changes;
	char pad[54];
	uint64_t other;
	uint64_t bits[8];
} data;
static _Alignas(64) char from[4096], to[4096];
static volatile int is_open;

static __attribute__((noinline)) void add(void)
{
	data.counter++;
}

static void nothing(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void nested(void)
{
	pthread_mutex_lock(&mutex);
	data.counter++;
	pthread_mutex_lock(&inner);
	data.other++;
	pthread_mutex_unlock(&mutex);
	data.same = 0;
	pthread_mutex_unlock(&inner);
}

static void copy(size_t n)
{
	pthread_mutex_lock(&mutex);
	memcpy(to + 1, from + 3, n);
	pthread_mutex_unlock(&mutex);
}

static void special(void)
{
	uint64_t flags;

	pthread_mutex_lock(&mutex);
	/* A bit far from the operand, an exchange of 16 bytes, a string, the flags. */
	__asm__ volatile("btsq %0, %1" : : "r"((uint64_t)64 * 7 + 3), "m"(data.bits[0]) : "memory");
	__asm__ volatile("lock cmpxchg16b (%0)"
			 :
			 : "r"(from + 64), "a"(0L), "d"(0L), "b"(1L), "c"(2L)
			 : "memory", "cc");
	__asm__ volatile("cld; movl $5, %%ecx; rep stosb"
			 :
			 : "D"(to + 2048), "a"(7)
			 : "rcx", "memory", "cc");
	__asm__ volatile("pushfq; popq %0" : "=r"(flags) : : "memory");
	pthread_mutex_unlock(&mutex);
	if ((flags & 0x100) != 0)
		puts("the program sees the trap flag");
}

static void calls(void)
{
	errno = 77;
	pthread_mutex_lock(&mutex);
	data.changes++;
	(void)!write(-1, from, 1);
	data.other++;
	pthread_mutex_unlock(&mutex);
	if (errno != EBADF)
		puts("errno is another one");
}

static void *open_it(void *unused)
{
	pthread_mutex_lock(&mutex);
	is_open = 1;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void wait_for_it(void)
{
	pthread_t thread;

	is_open = 0;
	pthread_create(&thread, NULL, open_it, NULL);
	pthread_mutex_lock(&mutex);
	while (!is_open)
		pthread_cond_wait(&cond, &mutex);
	data.same = 1;
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
}

static void all(int marks)
{
	if (marks)
		printf("%zu %zu %zu %zu\n", (size_t)&data, (size_t)from, (size_t)to,
		       (size_t)&is_open);
	for (int i = 0; i < 300; i++) {
		pthread_mutex_lock(&mutex);
		add();
		pthread_mutex_unlock(&mutex);
	}
	nothing();
	pthread_rwlock_rdlock(&rwlock);
	data.other = data.counter;
	pthread_rwlock_unlock(&rwlock);
	nested();
	for (size_t n = 1; n < 300; n += 37)
		copy(n);
	special();
	calls();
	wait_for_it();
}

int main(void)
{
	if (getenv("WARM") == NULL)
		all(0);
	all(1);
	return 0;
}
