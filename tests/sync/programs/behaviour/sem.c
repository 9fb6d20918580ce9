/* SPDX-License-Identifier: MIT */
/* Semaphores, unnamed and named. */
#define _GNU_SOURCE
#include "behaviour.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>

static sem_t sem;

static void count(void)
{
	int value;

	sem_getvalue(&sem, &value);
	SAY("count %d", value);
}

static void each_semaphore(int shared)
{
	SAY("-- semaphore, shared %d", shared);
	CALL(sem_init(&sem, shared, (unsigned)INT_MAX + 1));
	CALL(sem_init(&sem, shared, SEM_VALUE_MAX));
	CALL(sem_post(&sem));
	CALL(sem_wait(&sem));
	CALL(sem_post(&sem));
	CALL(sem_init(&sem, shared, 7));
	CALL(sem_wait(&sem));
	CALL(sem_trywait(&sem));
	CALL(sem_timedwait(&sem, &past));
	CALL(sem_timedwait(&sem, &crooked));
	CALL(sem_timedwait(&sem, &minus));
	CALL(sem_clockwait(&sem, CLOCK_MONOTONIC, &past));
	CALL(sem_clockwait(&sem, CLOCK_REALTIME, &past));
	CALL(sem_clockwait(&sem, 4711, &past));
	CALL(sem_clockwait(&sem, CLOCK_MONOTONIC, &crooked));
	count();
	while (sem_trywait(&sem) == 0)
		;
	CALL(sem_trywait(&sem));
	CALL(sem_timedwait(&sem, &past));
	CALL(sem_timedwait(&sem, &crooked));
	CALL(sem_timedwait(&sem, &minus));
	CALL(sem_clockwait(&sem, CLOCK_MONOTONIC, &past));
	CALL(sem_clockwait(&sem, CLOCK_REALTIME, &past));
	CALL(sem_clockwait(&sem, CLOCK_REALTIME, &minus));
	CALL(sem_clockwait(&sem, 4711, &past));
	CALL(sem_post(&sem));
	count();
	CALL(sem_destroy(&sem));
}

/* sem_open() returns a pointer: prints only whether it is NULL. */
#define OPEN(...)                                                                                  \
	do {                                                                                       \
		struct answer answer_ = {.text = "sem_open(" #__VA_ARGS__ ")"};                    \
		errno = ERRNO_BEFORE;                                                              \
		named = sem_open(__VA_ARGS__);                                                     \
		answer_.error = named == SEM_FAILED ? errno : 0;                                   \
		answer_.value = named == SEM_FAILED ? -1 : 0;                                      \
		tell(&answer_);                                                                    \
	} while (0)

static void without_descriptors(const char *name)
{
	struct rlimit none = {0, 0};
	sem_t *named;

	CALL(sem_post(&sem)); /* opens the library's files of the process */
	setrlimit(RLIMIT_NOFILE, &none);
	OPEN(name, 0);
}

static void named_ones(void)
{
	char name[64], too_long[600];
	sem_t *named, *again;
	int value;

	SAY("-- named semaphores");
	snprintf(name, sizeof(name), "/gprof-mt-behaviour.%d", getpid());
	memset(too_long, 'x', sizeof(too_long));
	too_long[0] = '/';
	too_long[sizeof(too_long) - 1] = '\0';
	OPEN("no slash/inside", 0);
	OPEN("/", 0);
	OPEN(too_long, O_CREAT, 0600, 1);
	OPEN(name, 0);
	OPEN(name, O_CREAT, 0600, (unsigned)INT_MAX + 1);
	OPEN(name, O_CREAT | O_EXCL, 0600, 3);
	again = named;
	OPEN(name, O_CREAT | O_EXCL, 0600, 3);
	OPEN(name, O_CREAT, 0600, 9); /* is there: the same address, the count it has */
	SAY("the same %d, count %d", again == named, sem_getvalue(named, &value) == 0 ? value : -1);
	CALL(sem_wait(named));
	CALL(sem_trywait(named));
	CALL(sem_post(named));
	CALL(sem_close(named));
	CALL(sem_close(named));
	CALL(sem_close(&sem)); /* not one of those */
	IN_CHILD(without_descriptors(name));
	sem_unlink(name);
	OPEN(name, 0);
}

void semaphores(void)
{
	each_semaphore(0);
	each_semaphore(1);
	named_ones();
}
