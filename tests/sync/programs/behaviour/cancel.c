/* SPDX-License-Identifier: MIT */
/*
 * Cancellation of a waiting thread, in each call that can wait, deferred and asynchronous; and of a
 * thread that is already cancelled and makes calls that need not wait.
 */
#define _GNU_SOURCE
#include "../wait_blocked.h"
#include "waits.h"

#include <signal.h>
#include <stdatomic.h>

static struct {
	unsigned which;
	int type; /* PTHREAD_CANCEL_... */
	atomic_int tid;
	bool returned, cleaned;
	int left;
	struct answer answer;
} work;

static void leave(void)
{
	const struct wait *wait = &waits[work.which];

	/* For an error-checking mutex, the unlock tells whether this thread owned it. */
	if (wait->object->leave != NULL)
		work.left = wait->object->leave();
}

/* Clean-up handlers of a condition wait own its mutex; other handlers own nothing. */
static void clean_up(void *arg)
{
	(void)arg;
	work.cleaned = true;
	if (waits[work.which].object->enter != NULL)
		leave();
}

static void *wait_in_thread(void *arg)
{
	const struct wait *wait = &waits[work.which];

	if (wait->object->enter != NULL)
		wait->object->enter();
	pthread_cleanup_push(clean_up, NULL);
	pthread_setcanceltype(work.type, NULL);
	atomic_store(&work.tid, gettid());
	wait_call(work.which, &work.answer);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
	work.returned = true;
	pthread_cleanup_pop(0);
	leave();
	pthread_testcancel();
	return arg;
}

static void outcome(void *value)
{
	if (work.returned)
		tell(&work.answer);
	SAY("%s, %s, cleaned up %d, left %d", work.returned ? "returned" : "did not return",
	    value == PTHREAD_CANCELED ? "cancelled" : "not cancelled", work.cleaned, work.left);
}

static void prepare(unsigned which, int type)
{
	work.which = which;
	work.type = type;
	atomic_store(&work.tid, 0);
	work.returned = work.cleaned = false;
	work.left = -1;
}

/* During the wait. */
static void cancel_waiting(unsigned which, int type)
{
	const struct wait *wait = &waits[which];
	bool ends = wait->is_cancellation_point || type == PTHREAD_CANCEL_ASYNCHRONOUS;
	pthread_t thread;

	SAY("-- cancelled %s in %s", type == PTHREAD_CANCEL_ASYNCHRONOUS ? "at once" : "deferred",
	    wait->text);
	prepare(which, type);
	wait->object->hold(wait->variant);
	thread = start(wait_in_thread, NULL);
	while (atomic_load(&work.tid) == 0)
		usleep(50);
	until_asleep(atomic_load(&work.tid));
	CALL(pthread_cancel(thread));
	if (!ends)
		wait->object->let_go();
	outcome(join(thread));
	if (ends && wait->object->let_go_anyway != NULL)
		wait->object->let_go_anyway();
}

static void *call_when_cancelled(void *arg)
{
	const struct wait *wait = &waits[work.which];

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	if (wait->object->enter != NULL)
		wait->object->enter();
	pthread_cleanup_push(clean_up, NULL);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	wait_call(work.which, &work.answer);
	work.returned = true;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cleanup_pop(0);
	leave();
	return arg;
}

/* Before the call, which does not wait if the object is free. */
static void cancel_before(unsigned which)
{
	const struct wait *wait = &waits[which];

	prepare(which, PTHREAD_CANCEL_DEFERRED);
	if (wait->object->provide == NULL && !wait->is_cancellation_point)
		return;
	SAY("-- cancelled before %s", wait->text);
	if (wait->object->provide != NULL)
		wait->object->provide(wait->variant);
	else
		wait->object->hold(wait->variant);
	outcome(join(start(call_when_cancelled, NULL)));
	if (wait->object->provide == NULL && wait->object->let_go_anyway != NULL)
		wait->object->let_go_anyway();
}

/* --- what never waits, called by a thread that is cancelled --------------------------------------
 */

static pthread_mutex_t mutex;
static pthread_cond_t cond;
static pthread_rwlock_t rwlock;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t sem;

static void *nothing(void *arg)
{
	return arg;
}

static void locks_of_cancelled(void)
{
	CALL(pthread_mutex_init(&mutex, NULL));
	CALL(pthread_mutex_trylock(&mutex));
	CALL(pthread_mutex_timedlock(&mutex, &past));
	CALL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past));
	CALL(pthread_cond_init(&cond, NULL));
	CALL(pthread_cond_signal(&cond));
	CALL(pthread_cond_broadcast(&cond));
	CALL(pthread_cond_destroy(&cond));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_destroy(&mutex));
	CALL(pthread_rwlock_init(&rwlock, NULL));
	CALL(pthread_rwlock_tryrdlock(&rwlock));
	CALL(pthread_rwlock_trywrlock(&rwlock));
	CALL(pthread_rwlock_timedwrlock(&rwlock, &past));
	CALL(pthread_rwlock_unlock(&rwlock));
	CALL(pthread_rwlock_destroy(&rwlock));
	CALL(pthread_spin_init(&spin, 0));
	CALL(pthread_spin_lock(&spin));
	CALL(pthread_spin_unlock(&spin));
	CALL(pthread_spin_destroy(&spin));
	CALL(pthread_barrier_init(&barrier, NULL, 1));
	CALL(pthread_barrier_wait(&barrier));
	CALL(pthread_barrier_destroy(&barrier));
}

static void others_of_cancelled(void)
{
	pthread_t thread;

	CALL(sem_init(&sem, 0, 1));
	CALL(sem_trywait(&sem));
	CALL(sem_trywait(&sem));
	CALL(sem_post(&sem));
	CALL(sem_timedwait(&sem, &crooked)); /* refused before cancellation can act */
	CALL(sem_destroy(&sem));
	CALL(pthread_create(&thread, NULL, nothing, NULL));
	CALL(pthread_kill(thread, 0));
	CALL(pthread_cancel(thread));
	CALL(pthread_detach(thread));
	CALL(kill(getpid(), 0));
	CALL(tgkill(getpid(), gettid(), 0));
}

static void *survive(void *arg)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	locks_of_cancelled();
	others_of_cancelled();
	pthread_testcancel();
	return arg;
}

/* A thread that is cancelled in a timed wait, and one that exits as owner. */
static void *exits(void *arg)
{
	pthread_cleanup_push(clean_up, NULL);
	pthread_mutex_lock(&mutex);
	pthread_exit(arg);
	pthread_cleanup_pop(0);
	return NULL;
}

void cancellation(void)
{
	for (unsigned which = 0; which < n_waits; which++) {
		cancel_waiting(which, PTHREAD_CANCEL_DEFERRED);
		cancel_waiting(which, PTHREAD_CANCEL_ASYNCHRONOUS);
		cancel_before(which);
	}
	SAY("-- no cancellation points");
	SAY("cancelled %d", join(start(survive, NULL)) == PTHREAD_CANCELED);
	prepare(0, PTHREAD_CANCEL_DEFERRED);
	SAY("exit value %ld", (long)join(start(exits, (void *)5)));
	SAY("cleaned up %d", work.cleaned);
}
