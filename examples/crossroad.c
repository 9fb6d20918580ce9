/* SPDX-License-Identifier: MIT */
/*
 * Cars at a crossroad: each car is a thread, the crossing a monitor.
 *
 * Two roads cross.  Cars of one road may be on the crossing together, up to its capacity; cars of
 * different roads may not.  While cars of the other road wait, only BATCH cars go before the light
 * changes.  The light changes when the last car leaves.  Therefore, whenever a car waits, some car
 * is on the crossing or on its way there: there is no deadlock, and no car is woken that cannot go
 * soon.
 *
 * Checked: the crossing never holds cars of both roads, nor more than its capacity, and every car
 * crosses exactly as often as requested.
 */
#define _GNU_SOURCE
#include <stdbool.h>

#include "example.h"

#define CROSSINGS_IN_ALL 10000
#define DRIVE_UNITS	 300
#define CROSS_UNITS	 60
#define CAPACITY	 3
#define BATCH		 12
#define CAR_STACK_BYTES	 (256 * 1024)

enum road { NORTH_SOUTH, EAST_WEST, N_ROADS };

struct car {
	pthread_t thread;
	unsigned number;
	enum road road;
	uint64_t result;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t may_go[N_ROADS];
	enum road green; /* protected by lock, like the members below */
	unsigned gone;	 /* since the light changed */
	unsigned inside[N_ROADS], waiting[N_ROADS];
	unsigned crossings, accidents;
} crossing = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .may_go = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER},
};

static unsigned n_rounds;

static enum road other_road(enum road road)
{
	return road == NORTH_SOUTH ? EAST_WEST : NORTH_SOUTH;
}

static bool crossing_may_enter(enum road road)
{
	bool others_wait = crossing.waiting[other_road(road)] > 0;

	if (crossing.inside[NORTH_SOUTH] + crossing.inside[EAST_WEST] == 0)
		return crossing.green == road || !others_wait;
	return crossing.green == road && crossing.inside[road] < CAPACITY &&
	       (crossing.gone < BATCH || !others_wait);
}

static void crossing_turn_light(enum road road)
{
	crossing.green = road;
	crossing.gone = 0;
}

EXAMPLE_FUNCTION void crossing_enter(enum road road)
{
	pthread_mutex_lock(&crossing.lock);
	crossing.waiting[road]++;
	while (!crossing_may_enter(road))
		pthread_cond_wait(&crossing.may_go[road], &crossing.lock);
	crossing.waiting[road]--;
	if (crossing.green != road)
		crossing_turn_light(road);
	crossing.gone++;
	crossing.crossings++;
	crossing.inside[road]++;
	if (crossing.inside[other_road(road)] || crossing.inside[road] > CAPACITY)
		crossing.accidents++;
	pthread_mutex_unlock(&crossing.lock);
}

EXAMPLE_FUNCTION void crossing_leave(enum road road)
{
	enum road other = other_road(road);

	pthread_mutex_lock(&crossing.lock);
	crossing.inside[road]--;
	if (crossing.waiting[road] && (crossing.gone < BATCH || !crossing.waiting[other])) {
		pthread_cond_signal(&crossing.may_go[road]);
	} else if (!crossing.inside[road] && crossing.waiting[other]) {
		crossing_turn_light(other);
		for (unsigned i = 0; i < CAPACITY && i < crossing.waiting[other]; i++)
			pthread_cond_signal(&crossing.may_go[other]);
	}
	pthread_mutex_unlock(&crossing.lock);
}

EXAMPLE_FUNCTION uint64_t drive_up(const struct car *car, unsigned round)
{
	return example_work((uint64_t)car->number << 40 | (uint64_t)round << 16, DRIVE_UNITS);
}

EXAMPLE_FUNCTION uint64_t cross(const struct car *car, unsigned round)
{
	uint64_t result;

	crossing_enter(car->road);
	result = example_work((uint64_t)car->number << 40 | (uint64_t)round << 16 | 1 << 12,
			      CROSS_UNITS);
	crossing_leave(car->road);
	return result;
}

EXAMPLE_FUNCTION void *drive(void *arg)
{
	struct car *car = arg;

	example_name_thread("car-%u", car->number);
	for (unsigned round = 0; round < n_rounds; round++) {
		car->result += drive_up(car, round);
		car->result += cross(car, round);
	}
	return NULL;
}

static void start_cars(struct car *cars, unsigned n_cars)
{
	pthread_attr_t attr;

	example_check(pthread_attr_init(&attr), "pthread_attr_init");
	example_check(pthread_attr_setstacksize(&attr, CAR_STACK_BYTES), "stack");
	for (unsigned i = 0; i < n_cars; i++) {
		cars[i].number = i;
		cars[i].road = i % N_ROADS;
		example_check(pthread_create(&cars[i].thread, &attr, drive, &cars[i]),
			      "pthread_create");
	}
	pthread_attr_destroy(&attr);
}

int main(int argc, char **argv)
{
	unsigned n_cars;
	struct car *cars;
	uint64_t result = 0;

	example_start(argc, argv, 2,
		      "[CARS [ROUNDS]]\n"
		      "CARS (10), half of them on each of two roads, pass a crossroad in ROUNDS\n"
		      "(10000 / CARS) rounds.\n");
	n_cars = example_number(argc, argv, 1, 1, 20000, 10);
	n_rounds =
	    example_number(argc, argv, 2, 1, 65535, (CROSSINGS_IN_ALL + n_cars - 1) / n_cars);

	cars = example_alloc(n_cars, sizeof(*cars));
	start_cars(cars, n_cars);
	for (unsigned i = 0; i < n_cars; i++) {
		pthread_join(cars[i].thread, NULL);
		result += cars[i].result;
	}
	free(cars);
	printf("%u cars, %u rounds: %u crossings, %u accidents, result %016jx\n", n_cars, n_rounds,
	       crossing.crossings, crossing.accidents, (uintmax_t)result);
	for (enum road road = 0; road < N_ROADS; road++)
		pthread_cond_destroy(&crossing.may_go[road]);
	pthread_mutex_destroy(&crossing.lock);
	return crossing.crossings != n_cars * n_rounds || crossing.accidents;
}
