/* SPDX-License-Identifier: MIT */
/*
 * Sections of several segments: nested and overlapping locks of all kinds, readers, recursion, and
 * waits for a condition that does not come.
 */
#include "access/exact/region.h"

#include <errno.h>
#include <time.h>

static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

#define cells AT(long, 64)

static NOINLINE void nested(void)
{
	cells[0]++;
	pthread_mutex_lock(&second);
	cells[9] += cells[0];
	pthread_spin_lock(&spin);
	cells[18] = cells[9] + cells[1];
	pthread_spin_unlock(&spin);
	cells[27]--;
	pthread_mutex_unlock(&second);
	cells[0] = cells[36];
}

/* The first lock is released before the second one. */
static NOINLINE void overlapping(void)
{
	pthread_mutex_lock(&second);
	cells[64] += 2;
	pthread_rwlock_wrlock(&rwlock);
	cells[73] = 1;
	pthread_mutex_unlock(&second);
	cells[82] = cells[73];
	pthread_rwlock_unlock(&rwlock);
	cells[91] = cells[64];
}

static NOINLINE void readers(void)
{
	pthread_rwlock_rdlock(&rwlock);
	cells[128] += cells[137];
	pthread_rwlock_rdlock(&rwlock);
	cells[146] = cells[155] + cells[128];
	pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	if (pthread_rwlock_trywrlock(&rwlock) == 0) {
		cells[164]++;
		pthread_rwlock_unlock(&rwlock);
	}
}

static void descend(int depth)
{
	pthread_mutex_lock(&recursive);
	cells[192 + 9 * depth] += depth;
	if (depth)
		descend(depth - 1);
	cells[193 + 9 * depth] = cells[192];
	pthread_mutex_unlock(&recursive);
}

static NOINLINE void recursion(void)
{
	descend(5);
}

static NOINLINE void waits(void)
{
	static const struct timespec long_ago = {.tv_sec = 1};

	for (int i = 0; i < 3; i++) {
		cells[256 + 9 * i]++;
		if (pthread_cond_timedwait(&never, &mutex, &long_ago) == ETIMEDOUT)
			cells[300] += cells[256];
	}
}

static NOINLINE void under_spin_lock(void)
{
	cells[320] ^= 1;
}

static NOINLINE void under_read_lock(void)
{
	pthread_mutex_lock(&second);
	cells[340] += cells[331];
	pthread_mutex_unlock(&second);
}

int main(int argc, char **argv)
{
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	for (int i = 0; i < 2; i++) {
		SECTION(nested);
		SECTION(overlapping);
		SECTION(readers);
		SECTION(recursion);
		SECTION(waits);
		SECTION_IN(under_spin_lock, pthread_spin_lock(&spin), pthread_spin_unlock(&spin));
		SECTION_IN(under_read_lock, pthread_rwlock_rdlock(&rwlock),
			   pthread_rwlock_unlock(&rwlock));
	}
	return finish(argc, argv);
}
