/* SPDX-License-Identifier: MIT */
/* <threads.h>. */
#define _GNU_SOURCE
#include "behaviour.h"

static mtx_t mutex;
static cnd_t cond;
static once_flag flag = ONCE_FLAG_INIT;
static int runs;

static void routine(void)
{
	runs++;
}

static int other_tries(void *arg)
{
	CALL(mtx_trylock(&mutex));
	CALL(mtx_timedlock(&mutex, &past));
	CALL(mtx_timedlock(&mutex, &crooked));
	return arg != NULL ? 3 : -3;
}

/* The output of the thread comes first. */
static void run(thrd_start_t routine, void *arg)
{
	struct answer created;
	thrd_t thread;
	int value = 0;

	ASK(&created, thrd_create(&thread, routine, arg));
	CALL(thrd_join(thread, &value));
	tell(&created);
	SAY("value %d", value);
}

static void each_mutex(int type)
{
	SAY("-- mtx_t of type %d", type);
	CALL(mtx_init(&mutex, type));
	CALL(mtx_lock(&mutex));
	CALL(mtx_trylock(&mutex));
	run(other_tries, &mutex);
	CALL(mtx_unlock(&mutex));
	if ((type & mtx_recursive) != 0)
		CALL(mtx_unlock(&mutex));
	CALL(mtx_timedlock(&mutex, &past));
	CALL(mtx_unlock(&mutex));
	CALL(mtx_timedlock(&mutex, &crooked));
	CALL(mtx_unlock(&mutex));
	CALL((mtx_destroy(&mutex), 0));
}

/* Results that no call can produce: these set glibc's internal fields. */
static void mutex_errors(void)
{
	pthread_mutex_t *inside = (pthread_mutex_t *)&mutex;

	CALL(mtx_init(&mutex, 4711));
	CALL(mtx_init(&mutex, mtx_recursive));
	CALL(mtx_unlock(&mutex)); /* not the owner */
	CALL(mtx_lock(&mutex));
	inside->__data.__count = ~0u;
	CALL(mtx_lock(&mutex));
	CALL(mtx_trylock(&mutex));
	CALL(mtx_timedlock(&mutex, &past));
}

static void c11_conditions(void)
{
	SAY("-- cnd_t");
	CALL(cnd_init(&cond));
	CALL(mtx_init(&mutex, mtx_recursive));
	CALL(cnd_wait(&cond, &mutex)); /* not the owner */
	CALL(cnd_timedwait(&cond, &mutex, &past));
	CALL(mtx_lock(&mutex));
	CALL(cnd_timedwait(&cond, &mutex, &past));
	CALL(cnd_timedwait(&cond, &mutex, &crooked));
	CALL(mtx_unlock(&mutex));
	CALL(cnd_signal(&cond));
	CALL(cnd_broadcast(&cond));
	CALL((cnd_destroy(&cond), 0));
}

static int joins_itself(void *arg)
{
	CALL(thrd_join(thrd_current(), NULL));
	return arg != NULL;
}

static int exits(void *arg)
{
	(void)arg;
	thrd_exit(-8);
}

static sem_t leave;

static int stay(void *arg)
{
	while (sem_wait(&leave) != 0)
		;
	return arg != NULL;
}

static void c11_threads(void)
{
	thrd_t thread;

	SAY("-- thrd_t");
	run(joins_itself, NULL);
	run(exits, NULL);
	sem_init(&leave, 0, 0);
	CALL(thrd_create(&thread, stay, NULL));
	CALL(thrd_detach(thread));
	CALL(thrd_detach(thread));
	CALL(thrd_join(thread, NULL));
	sem_post(&leave);
	CALL((call_once(&flag, routine), 0));
	CALL((call_once(&flag, routine), 0));
	SAY("runs %d", runs);
}

void c11(void)
{
	each_mutex(mtx_plain);
	each_mutex(mtx_timed);
	each_mutex(mtx_plain | mtx_recursive);
	each_mutex(mtx_timed | mtx_recursive);
	mutex_errors();
	c11_conditions();
	c11_threads();
}
