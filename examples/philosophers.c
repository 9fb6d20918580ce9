/* SPDX-License-Identifier: MIT */
/*
 * Dining philosophers: a semaphore for each fork, a mutex for the state of the table.
 *
 * Each philosopher is a thread.  A meal takes three looks at the table (hungry, eating, thinking),
 * each under its mutex, and two forks: with one meal, that is the paper's Table 2 (MutexLock 3,
 * MutexUnLock 3, Wait 2, Post 2, Lock Destroy 1 for each thread).  All sit down together, and rise
 * together.  Forks are taken in the order of their numbers, so there is no circle of waiting.
 *
 * Checked: no two neighbours eat at once, and each fork was used exactly twice per round.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <semaphore.h>

#include "example.h"

#define MEALS_IN_ALL 10000
#define THINK_UNITS  250
#define EAT_UNITS    150

enum state { THINKING, HUNGRY, EATING };

struct fork {
	sem_t free;
	unsigned uses; /* accessed only by the holder of the fork */
};

struct philosopher {
	pthread_t thread;
	unsigned seat;
	uint64_t result;
};

static struct {
	unsigned seats, rounds;
	struct fork *forks;
	pthread_mutex_t lock;
	enum state *states;	  /* protected by lock */
	unsigned meals, quarrels; /* protected by lock */
	pthread_barrier_t everybody;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

EXAMPLE_FUNCTION void MutexLock(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
}

EXAMPLE_FUNCTION void MutexUnLock(pthread_mutex_t *mutex)
{
	pthread_mutex_unlock(mutex);
}

EXAMPLE_FUNCTION void Wait(struct fork *fork)
{
	while (sem_wait(&fork->free) && errno == EINTR)
		;
}

EXAMPLE_FUNCTION void Post(struct fork *fork)
{
	sem_post(&fork->free);
}

EXAMPLE_FUNCTION void LockDestroy(struct fork *fork)
{
	sem_destroy(&fork->free);
}

EXAMPLE_FUNCTION void set_state(unsigned seat, enum state state)
{
	unsigned left = (seat + table.seats - 1) % table.seats;
	unsigned right = (seat + 1) % table.seats;

	MutexLock(&table.lock);
	table.states[seat] = state;
	if (state == EATING) {
		table.meals++;
		if (table.states[left] == EATING || table.states[right] == EATING)
			table.quarrels++;
	}
	MutexUnLock(&table.lock);
}

EXAMPLE_FUNCTION uint64_t think(unsigned seat, unsigned round)
{
	return example_work((uint64_t)seat << 40 | (uint64_t)round << 16, THINK_UNITS);
}

EXAMPLE_FUNCTION uint64_t eat(struct fork *first, struct fork *second, unsigned seat,
			      unsigned round)
{
	uint64_t result;

	Wait(first);
	Wait(second);
	set_state(seat, EATING);
	first->uses++;
	second->uses++;
	result = example_work((uint64_t)seat << 40 | (uint64_t)round << 16 | 1 << 12, EAT_UNITS);
	set_state(seat, THINKING);
	Post(second);
	Post(first);
	return result;
}

EXAMPLE_FUNCTION void *dine(void *arg)
{
	struct philosopher *self = arg;
	unsigned left = self->seat, right = (self->seat + 1) % table.seats;
	struct fork *first = &table.forks[left < right ? left : right];
	struct fork *second = &table.forks[left < right ? right : left];

	example_name_thread("phil-%u", self->seat);
	pthread_barrier_wait(&table.everybody);
	for (unsigned round = 0; round < table.rounds; round++) {
		self->result += think(self->seat, round);
		set_state(self->seat, HUNGRY);
		self->result += eat(first, second, self->seat, round);
	}
	/* A neighbour may still need the fork: wait until all have finished. */
	pthread_barrier_wait(&table.everybody);
	LockDestroy(&table.forks[self->seat]);
	return NULL;
}

static void lay_table(void)
{
	table.forks = example_alloc(table.seats, sizeof(*table.forks));
	table.states = example_alloc(table.seats, sizeof(*table.states));
	for (unsigned i = 0; i < table.seats; i++)
		example_check(sem_init(&table.forks[i].free, 0, 1) ? errno : 0, "sem_init");
	example_check(pthread_barrier_init(&table.everybody, NULL, table.seats), "barrier");
}

int main(int argc, char **argv)
{
	struct philosopher *philosophers;
	unsigned bad_forks = 0;
	uint64_t result = 0;

	example_start(argc, argv, 2,
		      "[PHILOSOPHERS [ROUNDS]]\n"
		      "Philosophers (10) sit round a table, think, and eat with two forks each;\n"
		      "in ROUNDS (10000 / PHILOSOPHERS) meals each.\n");
	table.seats = example_number(argc, argv, 1, 2, 10000, 10);
	table.rounds =
	    example_number(argc, argv, 2, 1, 65535, (MEALS_IN_ALL + table.seats - 1) / table.seats);
	lay_table();

	philosophers = example_alloc(table.seats, sizeof(*philosophers));
	for (unsigned i = 0; i < table.seats; i++) {
		philosophers[i].seat = i;
		example_check(pthread_create(&philosophers[i].thread, NULL, dine, &philosophers[i]),
			      "pthread_create");
	}
	for (unsigned i = 0; i < table.seats; i++) {
		pthread_join(philosophers[i].thread, NULL);
		result += philosophers[i].result;
	}

	for (unsigned i = 0; i < table.seats; i++)
		bad_forks += table.forks[i].uses != 2 * table.rounds;
	printf(
	    "%u philosophers, %u rounds: %u meals, %u quarrels, %u forks misused, result %016jx\n",
	    table.seats, table.rounds, table.meals, table.quarrels, bad_forks, (uintmax_t)result);
	pthread_barrier_destroy(&table.everybody);
	pthread_mutex_destroy(&table.lock);
	free(philosophers);
	free(table.states);
	free(table.forks);
	return table.meals != table.seats * table.rounds || table.quarrels || bad_forks;
}
