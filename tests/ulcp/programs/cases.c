/* SPDX-License-Identifier: MIT */
/*
 * cases CASE: critical sections of one lock, of which each pair has a known class. The figures and
 * the cases of appendix A of paper 003, and the classes that these do not have.
 *
 * The main thread initializes the data in a section, so that it is shared. Then two or three
 * threads execute the sections of the case in a fixed order, one after the other.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS	  5
#define N_THREADS 3
#define SECTION	  static __attribute__((noinline)) void

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, second_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

/* Results outside of sections. */
static __thread volatile long result;

/* --- figures ---------------------------------------------------------------------------------- */

static volatile int shared_variable;
static volatile int ref = 2;
static volatile long one, two;

/* Figure 3 */
SECTION if_local(void)
{
	volatile int local_variable = 0;

	pthread_mutex_lock(&lock);
	if (local_variable)
		shared_variable++;
	pthread_mutex_unlock(&lock);
}

/* Figure 4 */
SECTION poll_ref(void)
{
	int deleted = 0;

	pthread_mutex_lock(&lock);
	if (ref == 1)
		deleted = 1;
	pthread_mutex_unlock(&lock);
	result = deleted;
}

SECTION release_ref(void)
{
	pthread_mutex_lock(&lock);
	ref = 1;
	pthread_mutex_unlock(&lock);
}

/* Figures 7 and 8 */
SECTION read_one(void)
{
	pthread_mutex_lock(&lock);
	result = one;
	pthread_mutex_unlock(&lock);
}

SECTION read_two(void)
{
	pthread_mutex_lock(&lock);
	result = two;
	pthread_mutex_unlock(&lock);
}

SECTION write_one(void)
{
	long value = random();

	pthread_mutex_lock(&lock);
	one = value;
	pthread_mutex_unlock(&lock);
}

/* --- appendix A ------------------------------------------------------------------------------- */

static volatile int waiting, served;

/* Case 1: the section after a condition wait accesses nothing. */
SECTION wait_for_signal(void)
{
	pthread_mutex_lock(&lock);
	waiting = 1;
	pthread_cond_wait(&cond, &lock); /* again */
	pthread_mutex_unlock(&lock);
}

static __attribute__((noinline)) int signal_waiting(void)
{
	int found;

	pthread_mutex_lock(&lock);
	found = waiting;
	if (found) {
		waiting = 0;
		served++;
		pthread_cond_signal(&cond);
	}
	pthread_mutex_unlock(&lock);
	return found;
}

/* Case 2: the list of transactions is printed under two locks. */
static struct transaction {
	struct transaction *volatile next;
	volatile long id;
} transactions[4];

SECTION print_transactions(void)
{
	long sum = 0;

	pthread_mutex_lock(&lock);
	pthread_mutex_lock(&second_lock);
	for (struct transaction *at = transactions; at; at = at->next)
		sum += at->id;
	pthread_mutex_unlock(&lock);
	pthread_mutex_unlock(&second_lock);
	result = sum;
}

/* Case 3: fields of a slot. */
static struct {
	volatile int suspended, in_use, type;
} slot;

SECTION release_thread(void)
{
	pthread_mutex_lock(&lock);
	slot.suspended = !slot.suspended;
	pthread_mutex_unlock(&lock);
}

SECTION has_released_slot(void)
{
	pthread_mutex_lock(&lock);
	result = slot.in_use && slot.type == 3;
	pthread_mutex_unlock(&lock);
}

/* Cases 4 to 6: the members of a connection. */
static struct variables {
	volatile int abort;
} variables;

static struct {
	struct variables *volatile mysys_var;
	const char *volatile query;
	volatile size_t query_length;
	volatile long query_id, db;
} thd;

SECTION close_connection(void)
{
	pthread_mutex_lock(&lock);
	if (thd.mysys_var)
		thd.mysys_var->abort = 1;
	pthread_mutex_unlock(&lock);
}

SECTION fill_process_list(void)
{
	pthread_mutex_lock(&lock);
	if (thd.query)
		result = (long)thd.query_length;
	pthread_mutex_unlock(&lock);
}

SECTION set_query_id(void)
{
	pthread_mutex_lock(&lock);
	thd.query_id++;
	pthread_mutex_unlock(&lock);
}

SECTION set_mysys_var(void)
{
	pthread_mutex_lock(&lock);
	thd.mysys_var = thd.mysys_var ? NULL : &variables;
	pthread_mutex_unlock(&lock);
}

SECTION list_process(void)
{
	pthread_mutex_lock(&lock);
	result = thd.mysys_var != NULL;
	if (thd.query)
		result = (long)thd.query_length;
	pthread_mutex_unlock(&lock);
}

SECTION set_db(void)
{
	pthread_mutex_lock(&lock);
	thd.db++;
	pthread_mutex_unlock(&lock);
}

/* Case 7: threads try for the lock of a cache, to search it. */
static volatile long cache[8];

SECTION search_cache(void)
{
	long sum = 0;

	while (pthread_mutex_trylock(&lock) == EBUSY)
		sched_yield();
	for (unsigned i = 0; i < 8; i++)
		sum += cache[i];
	pthread_mutex_unlock(&lock);
	result = sum;
}

/* Case 8: spaces in a hash table. */
static struct space {
	volatile int n_pending_ops, size;
} space;
static struct space *volatile spaces[4] = {NULL, &space};

SECTION inc_pending_ops(void)
{
	pthread_mutex_lock(&lock);
	spaces[1]->n_pending_ops++;
	pthread_mutex_unlock(&lock);
}

SECTION space_size(void)
{
	pthread_mutex_lock(&lock);
	result = spaces[1] ? spaces[1]->size : 0;
	pthread_mutex_unlock(&lock);
}

/* Case 9: a wait whose time is over at once; the section after it accesses nothing. */
SECTION try_lock(void)
{
	const struct timespec past = {.tv_sec = 1};

	pthread_mutex_lock(&lock);
	while (pthread_cond_timedwait(&cond, &lock, &past) != ETIMEDOUT) /* no longer */
		;
	pthread_mutex_unlock(&lock);
}

/* Case 10: UPDATE and DELETE wait for a global lock that nobody holds. */
static volatile int global_read_lock;

SECTION wait_if_global_read_lock(void)
{
	pthread_mutex_lock(&lock);
	while (global_read_lock)
		pthread_cond_wait(&cond, &lock);
	pthread_mutex_unlock(&lock);
}

/* --- other classes ---------------------------------------------------------------------------- */

static volatile int is_ready = 1;
static volatile unsigned bits;

SECTION set_ready(void)
{
	pthread_mutex_lock(&lock);
	is_ready = 1;
	pthread_mutex_unlock(&lock);
}

SECTION add(void)
{
	pthread_mutex_lock(&lock);
	shared_variable++;
	pthread_mutex_unlock(&lock);
}

SECTION flip_bit_0(void)
{
	pthread_mutex_lock(&lock);
	bits ^= 1;
	pthread_mutex_unlock(&lock);
}

SECTION flip_bit_1(void)
{
	pthread_mutex_lock(&lock);
	bits ^= 2;
	pthread_mutex_unlock(&lock);
}

SECTION read_as_reader(void)
{
	pthread_rwlock_rdlock(&rwlock);
	result = one;
	pthread_rwlock_unlock(&rwlock);
}

SECTION write_as_writer(void)
{
	long value = random();

	pthread_rwlock_wrlock(&rwlock);
	one = value;
	pthread_rwlock_unlock(&rwlock);
}

/* --- cases ------------------------------------------------------------------------------------ */

/* All that is shared, in a section of the main thread. */
SECTION initialize(void)
{
	pthread_mutex_lock(&lock);
	one = two = 1;
	shared_variable = waiting = served = 0;
	for (int i = 0; i < 4; i++) {
		transactions[i].id = i;
		transactions[i].next = i < 3 ? &transactions[i + 1] : NULL;
	}
	slot.suspended = slot.in_use = 1;
	slot.type = 3;
	variables.abort = 0;
	thd.mysys_var = &variables;
	thd.query = "select";
	thd.query_length = 6;
	thd.query_id = thd.db = 0;
	for (int i = 0; i < 8; i++)
		cache[i] = i;
	space.size = 5;
	space.n_pending_ops = 0;
	global_read_lock = 0;
	pthread_mutex_unlock(&lock);
}

struct step {
	int thread; /* 1, ...; 0: no more */
	void (*section)(void);
};

static const struct {
	const char *name;
	int rounds;
	struct step steps[8];
} cases[] = {
    {"figure_3", ROUNDS, {{1, if_local}, {2, if_local}}},
    {"figure_4", 1, {{1, poll_ref}, {2, poll_ref}, {1, poll_ref}, {3, release_ref}, {1, poll_ref}}},
    {"figure_7",
     1,
     {{1, read_one}, {2, read_two}, {3, write_one}, {2, write_one}, {1, read_two}, {3, write_one}}},
    {"case_2", ROUNDS, {{1, print_transactions}, {2, print_transactions}}},
    {"case_3", ROUNDS, {{1, release_thread}, {2, has_released_slot}}},
    {"case_4", ROUNDS, {{1, close_connection}, {2, fill_process_list}}},
    {"case_5", ROUNDS, {{1, set_query_id}, {2, set_mysys_var}}},
    {"case_6", ROUNDS, {{1, list_process}, {2, set_db}}},
    {"case_7", ROUNDS, {{1, search_cache}, {2, search_cache}}},
    {"case_8", ROUNDS, {{1, inc_pending_ops}, {2, space_size}}},
    {"case_9", ROUNDS, {{1, try_lock}, {2, try_lock}}},
    {"case_10", ROUNDS, {{1, wait_if_global_read_lock}, {2, wait_if_global_read_lock}}},
    {"redundant", ROUNDS, {{1, set_ready}, {2, set_ready}}},
    {"counter", ROUNDS, {{1, add}, {2, add}}},
    {"bits", ROUNDS, {{1, flip_bit_0}, {2, flip_bit_1}}},
    {"assign", ROUNDS, {{1, write_one}, {2, read_one}}},
    {"rwlock",
     ROUNDS,
     {{1, read_as_reader}, {2, read_as_reader}, {1, write_as_writer}, {2, read_as_reader}}},
};

static sem_t turn[N_THREADS + 1], done;
static void (*section_of_turn)(void); /* NULL: no more */

static void *take_turns(void *thread)
{
	for (;;) {
		sem_wait(&turn[(long)thread]);
		if (!section_of_turn)
			return NULL;
		section_of_turn();
		sem_post(&done);
	}
}

static void run_step(const struct step *step)
{
	section_of_turn = step->section;
	sem_post(&turn[step->thread]);
	sem_wait(&done);
}

static void run_case(unsigned number)
{
	pthread_t threads[N_THREADS + 1];

	sem_init(&done, 0, 0);
	for (long i = 1; i <= N_THREADS; i++) {
		sem_init(&turn[i], 0, 0);
		pthread_create(&threads[i], NULL, take_turns, (void *)i);
	}
	for (int round = 0; round < cases[number].rounds; round++)
		for (const struct step *step = cases[number].steps; step->thread; step++)
			run_step(step);
	section_of_turn = NULL;
	for (int i = 1; i <= N_THREADS; i++) {
		sem_post(&turn[i]);
		pthread_join(threads[i], NULL);
	}
}

/* --- case 1 ----------------------------------------------------------------------------------- */

static void *wait_each_round(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++)
		wait_for_signal();
	return NULL;
}

static void run_case_1(void)
{
	pthread_t waiter;

	pthread_create(&waiter, NULL, wait_each_round, NULL);
	for (int i = 0; i < ROUNDS; i++)
		while (!signal_waiting())
			sched_yield();
	pthread_join(waiter, NULL);
}

int main(int argc, char **argv)
{
	initialize();
	for (unsigned i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(cases[i].name, argv[1]) == 0)
			run_case(i);
	if (argc > 1 && strcmp(argv[1], "case_1") == 0)
		run_case_1();
	return 0;
}
