/* SPDX-License-Identifier: MIT */
/*
 * Processor farm: a master deals tasks to workers, and gathers the results round by round.
 *
 * The farm counts primes.  Tasks (ranges of numbers) go through a bounded queue (a mutex and two
 * condition variables); at the end of a round master and workers meet at a barrier, the master adds
 * up what the workers found, and they meet again before the next round starts.
 *
 * Checked: for 20 million and for powers of ten, the number of primes is the known one.  is_prime()
 * is called once for each odd number from 3 up to the limit, by whichever worker.
 */
#define _GNU_SOURCE
#include <stdbool.h>

#include "example.h"

#define LIMIT		20000000
#define ROUNDS		10
#define TASKS_PER_ROUND 40

struct task {
	unsigned begin, end; /* numbers: begin <= n < end; empty: end of the round */
};

struct worker {
	pthread_t thread;
	unsigned number;
	unsigned primes, tasks; /* of this round; the master reads them between barriers */
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t not_empty, not_full;
	struct task *tasks; /* protected by lock, like the members below */
	unsigned capacity, first, n_tasks;
} queue = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .not_empty = PTHREAD_COND_INITIALIZER,
    .not_full = PTHREAD_COND_INITIALIZER,
};

static struct {
	unsigned n_workers, limit;
	struct worker *workers;
	pthread_barrier_t round;
} farm;

EXAMPLE_FUNCTION void queue_put(struct task task)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.n_tasks == queue.capacity)
		pthread_cond_wait(&queue.not_full, &queue.lock);
	queue.tasks[(queue.first + queue.n_tasks++) % queue.capacity] = task;
	pthread_cond_signal(&queue.not_empty);
	pthread_mutex_unlock(&queue.lock);
}

EXAMPLE_FUNCTION struct task queue_get(void)
{
	struct task task;

	pthread_mutex_lock(&queue.lock);
	while (!queue.n_tasks)
		pthread_cond_wait(&queue.not_empty, &queue.lock);
	task = queue.tasks[queue.first];
	queue.first = (queue.first + 1) % queue.capacity;
	queue.n_tasks--;
	pthread_cond_signal(&queue.not_full);
	pthread_mutex_unlock(&queue.lock);
	return task;
}

/* For odd numbers from 3 up. */
EXAMPLE_FUNCTION bool is_prime(unsigned n)
{
	for (unsigned divisor = 3; (uint64_t)divisor * divisor <= n; divisor += 2) {
		if (n % divisor == 0)
			return false;
	}
	return true;
}

EXAMPLE_FUNCTION unsigned count_primes(struct task task)
{
	unsigned primes = task.begin <= 2 && task.end > 2;

	for (unsigned n = task.begin < 3 ? 3 : task.begin | 1; n < task.end; n += 2)
		primes += is_prime(n);
	return primes;
}

EXAMPLE_FUNCTION void *work(void *arg)
{
	struct worker *self = arg;

	example_name_thread("worker-%u", self->number);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct task task;

		while (task = queue_get(), task.begin < task.end) {
			self->primes += count_primes(task);
			self->tasks++;
		}
		pthread_barrier_wait(&farm.round);
		pthread_barrier_wait(&farm.round);
	}
	return NULL;
}

EXAMPLE_FUNCTION void deal_round(unsigned round)
{
	const unsigned n_tasks = ROUNDS * TASKS_PER_ROUND;

	for (unsigned i = round * TASKS_PER_ROUND; i < (round + 1) * TASKS_PER_ROUND; i++) {
		queue_put((struct task){
		    .begin = (unsigned)((uint64_t)(farm.limit + 1) * i / n_tasks),
		    .end = (unsigned)((uint64_t)(farm.limit + 1) * (i + 1) / n_tasks),
		});
	}
	for (unsigned i = 0; i < farm.n_workers; i++)
		queue_put((struct task){0, 0});
}

EXAMPLE_FUNCTION void gather_round(unsigned *primes, unsigned *tasks)
{
	pthread_barrier_wait(&farm.round);
	for (unsigned i = 0; i < farm.n_workers; i++) {
		*primes += farm.workers[i].primes;
		*tasks += farm.workers[i].tasks;
		farm.workers[i].primes = 0;
		farm.workers[i].tasks = 0;
	}
	pthread_barrier_wait(&farm.round);
}

/* Returns 0 if the number is not known here. */
static unsigned known_primes(unsigned limit)
{
	static const struct {
		unsigned limit, primes;
	} known[] = {
	    {1000, 168},	{10000, 1229},	     {100000, 9592},	   {1000000, 78498},
	    {10000000, 664579}, {20000000, 1270607}, {100000000, 5761455},
	};

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].limit == limit)
			return known[i].primes;
	}
	return 0;
}

static void start_workers(void)
{
	queue.capacity = 2 * farm.n_workers;
	queue.tasks = example_alloc(queue.capacity, sizeof(*queue.tasks));
	farm.workers = example_alloc(farm.n_workers, sizeof(*farm.workers));
	example_check(pthread_barrier_init(&farm.round, NULL, farm.n_workers + 1), "barrier");
	for (unsigned i = 0; i < farm.n_workers; i++) {
		farm.workers[i].number = i;
		example_check(pthread_create(&farm.workers[i].thread, NULL, work, &farm.workers[i]),
			      "pthread_create");
	}
}

static void dismiss_workers(void)
{
	for (unsigned i = 0; i < farm.n_workers; i++)
		pthread_join(farm.workers[i].thread, NULL);
	pthread_barrier_destroy(&farm.round);
	pthread_cond_destroy(&queue.not_empty);
	pthread_cond_destroy(&queue.not_full);
	pthread_mutex_destroy(&queue.lock);
	free(farm.workers);
	free(queue.tasks);
}

int main(int argc, char **argv)
{
	unsigned primes = 0, tasks = 0, known;

	example_start(
	    argc, argv, 2,
	    "[WORKERS [LIMIT]]\n"
	    "WORKERS (4) count the primes up to LIMIT (20000000) in 10 rounds of 40 tasks.\n");
	farm.n_workers = example_number(argc, argv, 1, 1, 10000, 4);
	farm.limit = example_number(argc, argv, 2, ROUNDS * TASKS_PER_ROUND, 100000000, LIMIT);

	start_workers();
	for (unsigned round = 0; round < ROUNDS; round++) {
		deal_round(round);
		gather_round(&primes, &tasks);
	}
	dismiss_workers();

	known = known_primes(farm.limit);
	printf("%u workers, %u tasks: %u primes up to %u%s\n", farm.n_workers, tasks, primes,
	       farm.limit, known == primes ? ", as expected" : "");
	return tasks != ROUNDS * TASKS_PER_ROUND || (known && primes != known);
}
