/* SPDX-License-Identifier: MIT */
/*
 * A program with a bottleneck to choose, for `gprof-mt sweep` (bottleneck.ini).
 *
 *   none   workers process requests without a lock
 *   a      each request needs most of its time under lock A, in lookup()
 *   b      Figure 1 of SyncProf's paper: workers wait in dispatch() for lock B.  Its holder waits
 *          there for lock A, which update(), in another thread, holds for long
 *   io     a request sleeps, as if it waited for a disk
 *
 * Each worker processes the same number of requests.  With locks, all threads begin together, also
 * on a busy machine: those that begin later would find the locks free.
 *
 * Checked: the result is that of the same requests in any order.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <semaphore.h>
#include <time.h>

#include "example.h"

#define WORK	  60	  /* units of a request */
#define UPDATE	  2000	  /* units of an update: longer than it takes to wake a thread */
#define SLEEP_NS  1000000 /* of a request of kind io */
#define MOST_WORK 1000000

enum kind { NONE, A, B, IO, N_KINDS };

static const char *const kinds[N_KINDS] = {"none", "a", "b", "io"};

struct worker {
	pthread_t thread;
	unsigned number;
	uint64_t sum;
};

static pthread_mutex_t lock_a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock_b = PTHREAD_MUTEX_INITIALIZER;
static sem_t ready, go;
static sem_t update_wanted, update_begun; /* kind b */
static enum kind kind;
static unsigned n_workers, n_requests;
static uint64_t updates; /* protected by lock_a */

/* Lock A for nearly the whole request. */
EXAMPLE_FUNCTION uint64_t lookup(uint64_t seed)
{
	uint64_t sum;

	pthread_mutex_lock(&lock_a);
	sum = example_work(seed, WORK);
	pthread_mutex_unlock(&lock_a);
	return sum;
}

/* Lock B, and inside lock A, which is held by update() by then. */
EXAMPLE_FUNCTION uint64_t dispatch(uint64_t seed)
{
	uint64_t sum;

	pthread_mutex_lock(&lock_b);
	sem_post(&update_wanted);
	sem_wait(&update_begun);
	pthread_mutex_lock(&lock_a);
	sum = example_work(seed, 1);
	pthread_mutex_unlock(&lock_a);
	pthread_mutex_unlock(&lock_b);
	return sum;
}

/* The cause of the waits for lock B.  Returns the sum so far. */
EXAMPLE_FUNCTION uint64_t update(uint64_t seed)
{
	uint64_t sum;

	sem_wait(&update_wanted);
	pthread_mutex_lock(&lock_a);
	sem_post(&update_begun);
	updates += example_work(seed, UPDATE);
	sum = updates;
	pthread_mutex_unlock(&lock_a);
	return sum;
}

EXAMPLE_FUNCTION uint64_t sleep_for_disk(uint64_t seed)
{
	const struct timespec time = {0, SLEEP_NS};

	nanosleep(&time, NULL);
	return example_work(seed, 1);
}

static uint64_t process(uint64_t seed)
{
	switch (kind) {
	case A:
		return lookup(seed);
	case B:
		return dispatch(seed);
	case IO:
		return sleep_for_disk(seed);
	default:
		return example_work(seed, WORK);
	}
}

/* Threads with locks begin together. */
static void begin(void)
{
	if (kind != A && kind != B)
		return;
	sem_post(&ready);
	sem_wait(&go);
}

static void let_begin(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sem_wait(&ready);
	for (unsigned i = 0; i < n; i++)
		sem_post(&go);
}

static void *work(void *data)
{
	struct worker *worker = data;

	example_name_thread("worker-%u", worker->number);
	begin();
	for (unsigned i = 0; i < n_requests; i++)
		worker->sum += process((uint64_t)worker->number << 32 | i);
	return NULL;
}

static void *keep_updating(void *unused)
{
	example_name_thread("updater");
	begin();
	for (unsigned i = 0; i < n_workers * n_requests; i++)
		if (update(i) == 0)
			fprintf(stderr, "updater: update %u had no effect\n", i);
	return unused;
}

static enum kind read_kind(const char *name, const char *word)
{
	for (unsigned i = 0; i < N_KINDS; i++)
		if (strcmp(word, kinds[i]) == 0)
			return (enum kind)i;
	fprintf(stderr, "%s: no kind '%s' (expected none, a, b or io; try --help)\n", name, word);
	exit(2);
}

int main(int argc, char **argv)
{
	sem_t *const semaphores[] = {&ready, &go, &update_wanted, &update_begun};
	struct worker *workers;
	pthread_t updater = 0;
	uint64_t sum = 0;

	example_start(argc, argv, 3,
		      "[KIND [THREADS [WORKLOAD]]]\n\n"
		      "KIND: none, a, b, io (default a); WORKLOAD: requests of each thread\n");
	kind = argc > 1 ? read_kind(argv[0], argv[1]) : A;
	n_workers = example_number(argc, argv, 2, 1, 1000, 4);
	n_requests = example_number(argc, argv, 3, 1, MOST_WORK, 200);
	workers = example_alloc(n_workers, sizeof(*workers));
	for (unsigned i = 0; i < sizeof(semaphores) / sizeof(*semaphores); i++)
		example_check(sem_init(semaphores[i], 0, 0) ? errno : 0, "semaphore");
	if (kind == B)
		example_check(pthread_create(&updater, NULL, keep_updating, NULL), "thread");
	for (unsigned i = 0; i < n_workers; i++) {
		workers[i].number = i;
		example_check(pthread_create(&workers[i].thread, NULL, work, &workers[i]),
			      "thread");
	}
	if (kind == A || kind == B)
		let_begin(n_workers + (kind == B));
	for (unsigned i = 0; i < n_workers; i++) {
		pthread_join(workers[i].thread, NULL);
		sum += workers[i].sum;
	}
	if (kind == B)
		pthread_join(updater, NULL);
	printf("%s, %u threads, %u requests: result %016" PRIx64 "\n", kinds[kind], n_workers,
	       n_requests, sum + updates);
	free(workers);
	return 0;
}
