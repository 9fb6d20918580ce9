/* SPDX-License-Identifier: MIT */
/*
 * Two threads execute one section each, on one lock: CASE, or `vars SECTION SECTION [ROUNDS]` with
 * sections as in run_ops(); before that, so many others, while a third thread takes another lock.
 * The first thread is first unless it is kept from that, e.g. by a replay: the
 * second one waits for it, but not for ever, and not by synchronization.
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECTION	    __attribute__((noinline)) static void
#define PATIENCE_MS 500
#define N_VARS	    4
#define N_POLLS	    3
#define OTHERS	    3
#define BIG_FLOAT   1e16

struct node {
	struct node *next;
	long value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t posted;
static pthread_barrier_t both_run;
static int first_ends[2], handed_ends[2]; /* of pipes */
static long counter, last, largest, flag, ids[3], vars[N_VARS];
static double sum;
static struct node *head, nodes[3];
static unsigned bits;
static struct {
	unsigned a : 3, b : 5; /* without hooks */
} fields;
static int refs = 1;
static long *shared; /* of the heap, or of main()'s stack */
static const char *ops[3];
static int rounds, n_others;

static void make_pipe(int *ends)
{
	if (pipe(ends) != 0)
		abort();
}

static void write_byte(const int *ends)
{
	if (write(ends[1], "", 1) != 1)
		abort();
}

/* Waits for the first thread, but not for ever. */
static void begin(int thread)
{
	struct pollfd first_done = {.fd = first_ends[0], .events = POLLIN};

	if (thread == 2)
		poll(&first_done, 1, PATIENCE_MS);
}

static void end(int thread)
{
	if (thread == 1)
		write_byte(first_ends);
}

/* --- sections --------------------------------------------------------------------------------- */

SECTION add(int thread)
{
	pthread_mutex_lock(&lock);
	counter += 10 * thread;
	pthread_mutex_unlock(&lock);
}

SECTION set_bits(int thread)
{
	pthread_mutex_lock(&lock);
	bits |= thread == 1 ? 5u : 9u << 3;
	pthread_mutex_unlock(&lock);
}

SECTION set_flag(int thread)
{
	(void)thread;
	pthread_mutex_lock(&lock);
	flag = 1;
	pthread_mutex_unlock(&lock);
}

SECTION keep_largest(int thread)
{
	pthread_mutex_lock(&lock);
	if (thread > largest)
		largest = thread;
	pthread_mutex_unlock(&lock);
}

SECTION push(int thread)
{
	pthread_mutex_lock(&lock);
	nodes[thread].next = head;
	head = &nodes[thread];
	pthread_mutex_unlock(&lock);
}

SECTION set_last(int thread)
{
	pthread_mutex_lock(&lock);
	last = thread;
	pthread_mutex_unlock(&lock);
}

SECTION add_floats(int thread)
{
	pthread_mutex_lock(&lock);
	sum += thread == 1 ? BIG_FLOAT : 1;
	pthread_mutex_unlock(&lock);
}

/* The counter is the same in both orders, but not the number that each thread takes. */
SECTION take_id(int thread)
{
	pthread_mutex_lock(&lock);
	ids[thread] = ++counter;
	pthread_mutex_unlock(&lock);
}

SECTION add_time(int thread)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	pthread_mutex_lock(&lock);
	counter += thread + now.tv_nsec;
	pthread_mutex_unlock(&lock);
}

SECTION add_shared(int thread)
{
	pthread_mutex_lock(&lock);
	*shared += 10 * thread;
	pthread_mutex_unlock(&lock);
}

/* Both take another lock within the section, and take the lock again. */
SECTION add_nested(int thread)
{
	pthread_mutex_lock(&recursive);
	pthread_mutex_lock(&inner);
	pthread_mutex_lock(&recursive);
	counter += 10 * thread;
	pthread_mutex_unlock(&recursive);
	pthread_mutex_unlock(&inner);
	pthread_mutex_unlock(&recursive);
}

SECTION add_as_writer(int thread)
{
	pthread_rwlock_wrlock(&rwlock);
	counter += 10 * thread;
	pthread_rwlock_unlock(&rwlock);
}

SECTION add_spinning(int thread)
{
	pthread_spin_lock(&spin);
	counter += 10 * thread;
	pthread_spin_unlock(&spin);
}

SECTION add_if_free(int thread)
{
	while (pthread_mutex_trylock(&lock))
		sched_yield();
	counter += 10 * thread;
	pthread_mutex_unlock(&lock);
}

/* The second thread waits for a semaphore that the first one posts. */
SECTION add_after_post(int thread)
{
	if (thread == 2)
		sem_wait(&posted);
	pthread_mutex_lock(&lock);
	counter += 10 * thread;
	pthread_mutex_unlock(&lock);
	if (thread == 1)
		sem_post(&posted);
}

static void hand_over(void)
{
	write_byte(handed_ends);
}

static void take_over(void)
{
	char byte;

	if (read(handed_ends[0], &byte, 1) != 1)
		abort();
}

/* The same, by a pipe: that is not seen before a replay. */
SECTION add_after_write(int thread)
{
	if (thread == 2)
		take_over();
	pthread_mutex_lock(&lock);
	counter += 10 * thread;
	pthread_mutex_unlock(&lock);
	if (thread == 1)
		hand_over();
}

/* The second section waits for what follows the first one, and has the lock meanwhile. */
SECTION add_and_wait(int thread)
{
	pthread_mutex_lock(&lock);
	counter += 10 * thread;
	if (thread == 2)
		take_over();
	pthread_mutex_unlock(&lock);
	if (thread == 1)
		hand_over();
}

SECTION set_field(int thread)
{
	pthread_mutex_lock(&lock);
	if (thread == 1)
		fields.a = 5;
	else
		fields.b = 9;
	pthread_mutex_unlock(&lock);
}

/* Figure 4 of paper 003: the first thread polls what the second one sets. */
SECTION poll_ref(void)
{
	for (int i = 0, left = 1; left; i++) {
		if (i == N_POLLS)
			end(1);
		pthread_mutex_lock(&lock);
		left = refs;
		pthread_mutex_unlock(&lock);
	}
}

SECTION release_ref(void)
{
	pthread_mutex_lock(&lock);
	refs = 0;
	pthread_mutex_unlock(&lock);
}

static void poll_or_release(int thread)
{
	if (thread == 1)
		poll_ref();
	else
		release_ref();
}

/* "+05=13>12": adds 5 to variable 0, sets variable 1 to 3, copies variable 1 to variable 2. */
static void run_ops(const char *op)
{
	for (; op[0]; op += 3) {
		long *var = &vars[op[1] - '0'], operand = op[2] - '0';

		switch (op[0]) {
		case '+':
			*var += operand;
			break;
		case '=':
			*var = operand;
			break;
		case '*':
			*var *= operand;
			break;
		case '^':
			*var ^= operand;
			break;
		case '|':
			*var |= operand;
			break;
		case '>':
			vars[operand] = *var;
			break;
		default:
			abort();
		}
	}
}

SECTION run_vars(int thread)
{
	pthread_mutex_lock(&lock);
	run_ops(ops[thread]);
	pthread_mutex_unlock(&lock);
}

/* --- before the sections ---------------------------------------------------------------------- */

/* Takes another lock, at any time. */
static void *use_other_lock(void *unused)
{
	(void)unused;
	for (int i = 0; i < OTHERS * rounds; i++) {
		pthread_mutex_lock(&inner);
		n_others++;
		pthread_mutex_unlock(&inner);
	}
	return NULL;
}

static void use_both_locks(int thread)
{
	for (int i = 0; i < rounds; i++) {
		add(thread);
		pthread_mutex_lock(&inner);
		n_others++;
		pthread_mutex_unlock(&inner);
	}
}

/* --- cases ------------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	void (*section)(int thread);
} cases[] = {
    {"counter", add},
    {"bits", set_bits},
    {"flag", set_flag},
    {"max", keep_largest},
    {"push", push},
    {"last", set_last},
    {"floats", add_floats},
    {"ids", take_id},
    {"time", add_time},
    {"heap", add_shared},
    {"stack", add_shared},
    {"nested", add_nested},
    {"writer", add_as_writer},
    {"spin", add_spinning},
    {"try", add_if_free},
    {"post", add_after_post},
    {"pipe", add_after_write},
    {"inside", add_and_wait},
    {"fields", set_field},
    {"figure_4", poll_or_release},
    {"vars", run_vars},
};

static void (*section_of_case)(int thread);

static void *run_thread(void *number)
{
	int thread = (int)(long)number;

	use_both_locks(thread);
	pthread_barrier_wait(&both_run); /* else the stack of main() may count as another one */
	begin(thread);
	section_of_case(thread);
	end(thread);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[3], other;
	pthread_mutexattr_t attributes;
	long on_stack = 0;

	for (unsigned i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(cases[i].name, argv[1]) == 0)
			section_of_case = cases[i].section;
	if (!section_of_case)
		return 2;
	for (int i = 1; i <= 2; i++)
		ops[i] = argc > i + 1 ? argv[i + 1] : "";
	rounds = argc > 4 ? atoi(argv[4]) : 0;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &attributes);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	sem_init(&posted, 0, 0);
	pthread_barrier_init(&both_run, NULL, 2);
	make_pipe(first_ends);
	make_pipe(handed_ends);
	sum = 1;
	for (int i = 0; i < N_VARS; i++)
		vars[i] = i + 1;
	shared = strcmp(argv[1], "heap") == 0 ? calloc(1, sizeof(*shared)) : &on_stack;
	if (rounds)
		pthread_create(&other, NULL, use_other_lock, NULL);
	for (long i = 1; i <= 2; i++)
		pthread_create(&threads[i], NULL, run_thread, (void *)i);
	for (int i = 1; i <= 2; i++)
		pthread_join(threads[i], NULL);
	if (rounds)
		pthread_join(other, NULL);
	printf("%ld %ld %ld %ld %ld %ld %ld %u\n", counter, flag, last, largest, *shared, vars[0],
	       ids[1] - ids[2], fields.a + fields.b);
	return 0;
}
