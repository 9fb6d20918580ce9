/* SPDX-License-Identifier: MIT */
/*
 * A thread that waits for another thread's work in the runtime sleeps. If it yielded instead, a
 * real-time thread could wait forever. The working thread is stopped: by held.h while it opens the
 * process, by a FIFO in place of the load map while it lists an object.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "check.h"
#include "held.h"
#include "runtime/files/file.h"
#include "runtime/process/loadmap.h"
#include "runtime/process/process.h"
#include "runtime/process/threads.h"
#include "runtime/sys/lock.h"
#include "runtime/sys/sys.h"
#include "sleeper.h"

#define THREADS 3
#define ROUNDS	20000

struct work {
	int tid;
	uint64_t address; /* address to add to the load map; 0: open the process */
	bool is_held;
	int listener; /* from held_begin() */
	bool done;
};

static void *work(void *arg)
{
	struct work *self = arg;

	if (self->is_held)
		self->listener = held_begin();
	__atomic_store_n(&self->tid, gm_sys_gettid(), __ATOMIC_RELEASE);
	self->done = self->address ? gm_maps_note(self->address, NULL) : gm_process_open() != NULL;
	return NULL;
}

static void start(pthread_t *threads, struct work *works)
{
	for (int i = 0; i < THREADS; i++) {
		CHECK_INT(pthread_create(&threads[i], NULL, work, &works[i]), 0);
		CHECK(sleeper_await(&works[i].tid));
		CHECK(!works[i].done);
	}
}

static void finish(const pthread_t *threads, const struct work *works)
{
	for (int i = 0; i < THREADS; i++) {
		CHECK_INT(pthread_join(threads[i], NULL), 0);
		CHECK(works[i].done);
	}
}

/*
 * The first thread is stopped while it creates the capture; the others must sleep until it is
 * resumed.
 */
static void test_open(void)
{
	struct work works[THREADS] = {{.is_held = true}};
	pthread_t threads[THREADS];

	start(threads, works);
	CHECK(works[0].listener >= 0);
	held_let_go(works[0].listener);
	close(works[0].listener);
	finish(threads, works);
	CHECK(gm_process_get() != NULL);
}

/* The first thread is stopped in opening the FIFO that replaces the load map. */
static void test_maps(void)
{
	/* Three objects that are not in the map yet: libc, the loader, this program. */
	struct work works[THREADS] = {
	    {.address = (uintptr_t)&printf},
	    {.address = (uintptr_t)&test_maps},
	    {.address = (uintptr_t)&puts},
	};
	char *maps = gm_path_new(gm_process_get()->dir, "maps");
	pthread_t threads[THREADS];
	int fd;

	gm_maps_forget();
	CHECK_INT(unlink(maps), 0);
	CHECK_INT(mkfifo(maps, 0600), 0);
	start(threads, works);
	fd = open(maps, O_RDWR);
	CHECK(fd >= 0);
	finish(threads, works);
	close(fd);
	CHECK(gm_maps_find((uintptr_t)&printf) != NULL);
	CHECK(gm_maps_find((uintptr_t)&test_maps) != NULL);
	gm_path_free(maps);
}

static struct gm_lock lock;
static unsigned counter;

static void *count(void *arg)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		CHECK(gm_lock_take(&lock));
		counter++;
		gm_lock_release(&lock);
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
	CHECK_INT(lock.word, 0);
}

int main(void)
{
	test_open();
	test_maps();
	test_lock();
	return 0;
}
