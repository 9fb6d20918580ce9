/* SPDX-License-Identifier: MIT */
/*
 * Whoever waits for another thread's work in the runtime sleeps: a real-time thread that yielded
 * instead might wait for ever.  The one at work is held up in it by a FIFO in a file's place.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "check.h"
#include "runtime/futex.h"
#include "runtime/runtime.h"
#include "runtime/threads.h"
#include "sleeper.h"

#define THREADS 3
#define ROUNDS	20000

struct work {
	int tid;
	uint64_t address; /* to be noted in the load map; 0: opens the process */
	bool done;
};

static void *work(void *arg)
{
	struct work *self = arg;

	__atomic_store_n(&self->tid, gm_sys_gettid(), __ATOMIC_RELEASE);
	self->done = self->address ? gm_maps_note(self->address, NULL) : gm_process_open() != NULL;
	return NULL;
}

/* The first is held up opening `fifo`; the others must sleep until it is let go. */
static void run(struct work *works, const char *fifo, int open_flags, const char *content)
{
	pthread_t threads[THREADS];
	int fd;

	for (int i = 0; i < THREADS; i++) {
		CHECK_INT(pthread_create(&threads[i], NULL, work, &works[i]), 0);
		CHECK(sleeper_await(&works[i].tid));
		CHECK(!works[i].done);
	}
	fd = open(fifo, open_flags);
	CHECK(fd >= 0);
	if (content) {
		CHECK_INT(write(fd, content, strlen(content)), strlen(content));
		close(fd);
	}
	for (int i = 0; i < THREADS; i++) {
		CHECK_INT(pthread_join(threads[i], NULL), 0);
		CHECK(works[i].done);
	}
	if (!content)
		close(fd);
}

static void test_open(void)
{
	struct work works[THREADS] = {0};

	CHECK_INT(mkfifo("config", 0600), 0);
	CHECK_INT(setenv("GPROF_MT_CONFIG", "config", 1), 0);
	run(works, "config", O_WRONLY, "[output]\ndir = capture\n");
	CHECK(gm_process_get() != NULL);
}

static void test_maps(void)
{
	/* Three objects that are not in the map yet: libc, the loader, ourselves. */
	struct work works[THREADS] = {
	    {.address = (uintptr_t)&printf},
	    {.address = (uintptr_t)&test_maps},
	    {.address = (uintptr_t)&puts},
	};
	char *maps = gm_path_new(gm_process_get()->dir, "maps");

	gm_maps_forget();
	CHECK_INT(unlink(maps), 0);
	CHECK_INT(mkfifo(maps, 0600), 0);
	run(works, maps, O_RDWR, NULL);
	CHECK(gm_maps_find((uintptr_t)&printf) != NULL);
	CHECK(gm_maps_find((uintptr_t)&test_maps) != NULL);
	gm_path_free(maps);
}

static uint32_t lock;
static unsigned counter;

static void *count(void *arg)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		gm_futex_lock(&lock);
		counter++;
		gm_futex_unlock(&lock);
	}
	return arg;
}

static void test_lock(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, count, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		CHECK_INT(pthread_join(threads[i], NULL), 0);
	CHECK_INT(counter, THREADS * ROUNDS);
	CHECK_INT(lock, 0);
}

int main(void)
{
	test_open();
	test_maps();
	test_lock();
	return 0;
}
