/* SPDX-License-Identifier: MIT */
/*
 * The functions in place of the real ones while a schedule is enforced: each waits for its turn,
 * and then calls the real one.
 *
 * The wrappers find them in the table of real functions (real.h), and so record a replay like any
 * run. Their own tries are replaced by looks, which acquire nothing.
 *
 * A try, or a timed call, has its recorded result. One that succeeded tries until it succeeds: its
 * turn has come, and the last owner is about to release the lock. One that timed out sleeps until
 * its time. A condition wait is not made: it releases its mutex, waits for the turn to take it
 * back, and takes it. When the order is left in the meantime, it returns as if woken for no reason,
 * which POSIX allows.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "libc/real.h"
#include "live/live.h"
#include "record/internal.h"

static struct st_real real; /* as they were */

static bool is_taken(int result)
{
	return result == 0 || result == EOWNERDEAD;
}

static void note_taken(const struct st_turn *turn, const void *lock)
{
	if (turn->is_of_pair)
		st_pair_taken(turn, lock);
	else
		st_turn_taken(turn);
}

/* The lock was acquired, or could not be, in its turn. */
static int took(const struct st_turn *turn, const void *lock, int result)
{
	if (is_taken(result))
		note_taken(turn, lock);
	if (result != turn->op->result)
		st_turn_failed(turn);
	return result;
}

/* Waits for the turn; false: it has none, or nothing is enforced any more. */
static bool await(const struct st_turn *turn)
{
	return turn->is_of_pair ? st_pair_await(turn) : st_turn_await(turn);
}

static bool has_turn(const struct st_turn *turn)
{
	return turn->op != NULL && turn->op->turn != ST_TURN_NONE;
}

/* The call and the try of a kind of lock, with its arguments; the lock is one of three types. */
struct locking {
	void *lock;
	int (*call)(const struct locking *);
	int (*try)(const struct locking *);
	clockid_t clock;
	const struct timespec *deadline;
};

/* --- the three ways --------------------------------------------------------------------------- */

/* The call has no turn, since no order is enforced, or since it is in a section of the pair. */
static int without_turn(const struct st_turn *turn, const struct locking *how,
			int (*call)(const struct locking *))
{
	int result;

	if (turn->is_held)
		st_pair_hold(turn);
	result = call(how);
	if (is_taken(result))
		st_pair_again(how->lock);
	return result;
}

static int lock_in_turn(enum st_event event, const struct locking *how)
{
	struct st_turn turn = st_turn_next(event);

	if (!has_turn(&turn) || !await(&turn))
		return without_turn(&turn, how, how->call);
	return took(&turn, how->lock, how->call(how));
}

/* Its turn has come: the lock will be free. */
static int try_until_free(const struct st_turn *turn, const struct locking *how)
{
	int result;

	while ((result = how->try(how)) == EBUSY && st_turns_are_on())
		st_turn_sleep(0, NULL);
	return result == EBUSY ? result : took(turn, how->lock, result);
}

static int try_in_turn(enum st_event event, const struct locking *how)
{
	struct st_turn turn = st_turn_next(event);

	if (turn.op == NULL)
		return without_turn(&turn, how, how->try);
	if (!has_turn(&turn))
		return turn.op->result;
	return await(&turn) ? try_until_free(&turn, how) : how->try(how);
}

static int timed_in_turn(enum st_event event, const struct locking *how)
{
	struct st_turn turn = st_turn_next(event);
	int result;

	if (has_turn(&turn) && await(&turn)) {
		result = try_until_free(&turn, how);
		return result == EBUSY ? how->call(how) : result;
	}
	if (turn.op == NULL || turn.op->result != ETIMEDOUT)
		return without_turn(&turn, how, how->call);
	st_turn_sleep(how->clock, how->deadline);
	return st_turns_are_on() ? ETIMEDOUT : how->call(how);
}

/* --- mutexes ---------------------------------------------------------------------------------- */

static int mutex_lock(const struct locking *how)
{
	return real.pthread_mutex_lock(how->lock);
}

static int mutex_try(const struct locking *how)
{
	return real.pthread_mutex_trylock(how->lock);
}

static int mutex_timed(const struct locking *how)
{
	return real.pthread_mutex_timedlock(how->lock, how->deadline);
}

static int mutex_clocked(const struct locking *how)
{
	return real.pthread_mutex_clocklock(how->lock, how->clock, how->deadline);
}

static int live_mutex_lock(pthread_mutex_t *mutex)
{
	struct locking how = {.lock = mutex, .call = mutex_lock};

	return lock_in_turn(ST_EVENT_mutex_lock, &how);
}

static int live_mutex_trylock(pthread_mutex_t *mutex)
{
	struct locking how = {.lock = mutex, .try = mutex_try};

	return try_in_turn(ST_EVENT_mutex_trylock, &how);
}

static int live_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline)
{
	struct locking how = {mutex, mutex_timed, mutex_try, CLOCK_REALTIME, deadline};

	return timed_in_turn(ST_EVENT_mutex_timedlock, &how);
}

static int live_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
				const struct timespec *deadline)
{
	struct locking how = {mutex, mutex_clocked, mutex_try, clock, deadline};

	return timed_in_turn(ST_EVENT_mutex_timedlock, &how);
}

/* --- read-write locks ------------------------------------------------------------------------- */

static int read_lock(const struct locking *how)
{
	return real.pthread_rwlock_rdlock(how->lock);
}

static int read_try(const struct locking *how)
{
	return real.pthread_rwlock_tryrdlock(how->lock);
}

static int read_timed(const struct locking *how)
{
	return real.pthread_rwlock_timedrdlock(how->lock, how->deadline);
}

static int read_clocked(const struct locking *how)
{
	return real.pthread_rwlock_clockrdlock(how->lock, how->clock, how->deadline);
}

static int write_lock(const struct locking *how)
{
	return real.pthread_rwlock_wrlock(how->lock);
}

static int write_try(const struct locking *how)
{
	return real.pthread_rwlock_trywrlock(how->lock);
}

static int write_timed(const struct locking *how)
{
	return real.pthread_rwlock_timedwrlock(how->lock, how->deadline);
}

static int write_clocked(const struct locking *how)
{
	return real.pthread_rwlock_clockwrlock(how->lock, how->clock, how->deadline);
}

static int live_rdlock(pthread_rwlock_t *lock)
{
	struct locking how = {.lock = lock, .call = read_lock};

	return lock_in_turn(ST_EVENT_rwlock_rdlock, &how);
}

static int live_wrlock(pthread_rwlock_t *lock)
{
	struct locking how = {.lock = lock, .call = write_lock};

	return lock_in_turn(ST_EVENT_rwlock_wrlock, &how);
}

static int live_tryrdlock(pthread_rwlock_t *lock)
{
	struct locking how = {.lock = lock, .try = read_try};

	return try_in_turn(ST_EVENT_rwlock_tryrdlock, &how);
}

static int live_trywrlock(pthread_rwlock_t *lock)
{
	struct locking how = {.lock = lock, .try = write_try};

	return try_in_turn(ST_EVENT_rwlock_trywrlock, &how);
}

static int live_timedrdlock(pthread_rwlock_t *lock, const struct timespec *deadline)
{
	struct locking how = {lock, read_timed, read_try, CLOCK_REALTIME, deadline};

	return timed_in_turn(ST_EVENT_rwlock_timedrdlock, &how);
}

static int live_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
			    const struct timespec *deadline)
{
	struct locking how = {lock, read_clocked, read_try, clock, deadline};

	return timed_in_turn(ST_EVENT_rwlock_timedrdlock, &how);
}

static int live_timedwrlock(pthread_rwlock_t *lock, const struct timespec *deadline)
{
	struct locking how = {lock, write_timed, write_try, CLOCK_REALTIME, deadline};

	return timed_in_turn(ST_EVENT_rwlock_timedwrlock, &how);
}

static int live_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
			    const struct timespec *deadline)
{
	struct locking how = {lock, write_clocked, write_try, clock, deadline};

	return timed_in_turn(ST_EVENT_rwlock_timedwrlock, &how);
}

/* --- spin locks ------------------------------------------------------------------------------- */

static int spin_lock(const struct locking *how)
{
	return real.pthread_spin_lock(how->lock);
}

static int spin_try(const struct locking *how)
{
	return real.pthread_spin_trylock(how->lock);
}

static int live_spin_lock(pthread_spinlock_t *lock)
{
	struct locking how = {.lock = (void *)lock, .call = spin_lock};

	return lock_in_turn(ST_EVENT_spin_lock, &how);
}

static int live_spin_trylock(pthread_spinlock_t *lock)
{
	struct locking how = {.lock = (void *)lock, .try = spin_try};

	return try_in_turn(ST_EVENT_spin_trylock, &how);
}

/* --- semaphores ------------------------------------------------------------------------------- */

static int sem_call(const struct locking *how)
{
	return real.sem_wait(how->lock) == 0 ? 0 : errno;
}

static int sem_timed(const struct locking *how)
{
	return real.sem_timedwait(how->lock, how->deadline) == 0 ? 0 : errno;
}

static int sem_clocked(const struct locking *how)
{
	return real.sem_clockwait(how->lock, how->clock, how->deadline) == 0 ? 0 : errno;
}

static int sem_try(const struct locking *how)
{
	if (real.sem_trywait(how->lock) == 0)
		return 0;
	return errno == EAGAIN ? EBUSY : errno;
}

static int sem_value(int result)
{
	if (result == 0)
		return 0;
	errno = result == EBUSY ? EAGAIN : result;
	return -1;
}

static int live_sem_wait(sem_t *sem)
{
	struct locking how = {.lock = sem, .call = sem_call};

	return sem_value(lock_in_turn(ST_EVENT_sem_wait, &how));
}

static int live_sem_trywait(sem_t *sem)
{
	struct locking how = {.lock = sem, .try = sem_try};

	return sem_value(try_in_turn(ST_EVENT_sem_trywait, &how));
}

static int live_sem_timedwait(sem_t *sem, const struct timespec *deadline)
{
	struct locking how = {sem, sem_timed, sem_try, CLOCK_REALTIME, deadline};

	return sem_value(timed_in_turn(ST_EVENT_sem_timedwait, &how));
}

static int live_sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *deadline)
{
	struct locking how = {sem, sem_clocked, sem_try, clock, deadline};

	return sem_value(timed_in_turn(ST_EVENT_sem_timedwait, &how));
}

/* --- condition waits -------------------------------------------------------------------------- */

struct wait {
	enum st_event event;
	pthread_cond_t *cond;
	pthread_mutex_t *mutex;
	clockid_t clock;
	const struct timespec *deadline;
	bool clocked;
};

/* A wait that was cancelled in the recorded run, while its stack is unwound. */
struct cancelled {
	struct st_turn turn;
	pthread_mutex_t *mutex; /* NULL: it has returned */
};

static int wait_really(const struct wait *wait)
{
	if (wait->clocked)
		return real.pthread_cond_clockwait(wait->cond, wait->mutex, wait->clock,
						   wait->deadline);
	if (wait->event == ST_EVENT_cond_timedwait)
		return real.pthread_cond_timedwait(wait->cond, wait->mutex, wait->deadline);
	return real.pthread_cond_wait(wait->cond, wait->mutex);
}

/* Takes the mutex in its turn. Returns false if the order was left before. */
static bool regain(const struct st_turn *turn, pthread_mutex_t *mutex, int *ret_result)
{
	bool in_turn = await(turn);

	*ret_result = real.pthread_mutex_lock(mutex);
	if (in_turn && is_taken(*ret_result))
		note_taken(turn, mutex);
	return in_turn;
}

/* libc has taken the mutex back; it is released until the turn comes. */
static void cancelled_over(struct cancelled *cancelled)
{
	int result;

	if (cancelled->mutex != NULL && has_turn(&cancelled->turn) && st_turns_are_on() &&
	    real.pthread_mutex_unlock(cancelled->mutex) == 0)
		regain(&cancelled->turn, cancelled->mutex, &result);
}

/* Waits until it is cancelled, or the process ends, as when it was recorded. */
static int wait_for_end(const struct st_turn *turn, const struct wait *wait)
{
	__attribute__((cleanup(cancelled_over))) struct cancelled cancelled = {*turn, wait->mutex};
	int result;

	do
		result = real.pthread_cond_wait(wait->cond, wait->mutex);
	while (result == 0 && st_turns_are_on());
	cancelled.mutex = NULL;
	return result;
}

/* Releases the mutex until the pair is over; the program sees a wake-up for no reason. */
static int wait_held(const struct st_turn *turn, pthread_mutex_t *mutex)
{
	int result = real.pthread_mutex_unlock(mutex);

	if (result != 0)
		return result;
	st_pair_hold(turn);
	return real.pthread_mutex_lock(mutex);
}

static int wait_in_turn(const struct wait *wait)
{
	struct st_turn turn;
	int result;

	st_pair_release(wait->mutex);
	turn = st_turn_next(wait->event);
	if (turn.is_held)
		return wait_held(&turn, wait->mutex);
	if (turn.op != NULL &&
	    (turn.op->result == ECANCELED || turn.op->result == ST_SCHEDULE_ENDLESS))
		return wait_for_end(&turn, wait);
	if (!has_turn(&turn))
		return wait_really(wait);
	result = real.pthread_mutex_unlock(wait->mutex);
	if (result != 0)
		return result;
	if (turn.op->result == ETIMEDOUT && wait->deadline != NULL)
		st_turn_sleep(wait->clock, wait->deadline);
	if (!regain(&turn, wait->mutex, &result) || result != 0)
		return result;
	return turn.op->result;
}

static int live_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	struct wait wait = {.event = ST_EVENT_cond_wait, .cond = cond, .mutex = mutex};

	return wait_in_turn(&wait);
}

/* glibc's flag for pthread_condattr_setclock(CLOCK_MONOTONIC) */
#define CLOCK_IS_MONOTONIC 2u

static int live_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
			       const struct timespec *deadline)
{
	uint32_t flags = __atomic_load_n(&cond->__data.__wrefs, __ATOMIC_RELAXED);
	struct wait wait = {.event = ST_EVENT_cond_timedwait,
			    .cond = cond,
			    .mutex = mutex,
			    .clock = (flags & CLOCK_IS_MONOTONIC) != 0 ? CLOCK_MONOTONIC
								       : CLOCK_REALTIME,
			    .deadline = deadline};

	return wait_in_turn(&wait);
}

static int live_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
			       const struct timespec *deadline)
{
	struct wait wait = {ST_EVENT_cond_timedwait, cond, mutex, clock, deadline, true};

	return wait_in_turn(&wait);
}

/* A second name that leads to the same function (ST_ALIAS) must do so further on. */
#define REPLACE(name, by)                                                                          \
	do {                                                                                       \
		if (real.__##name == real.name)                                                    \
			st_real.__##name = (by);                                                   \
		st_real.name = (by);                                                               \
	} while (0)

/* --- releases --------------------------------------------------------------------------------- */

static int live_mutex_unlock(pthread_mutex_t *mutex)
{
	st_pair_release(mutex);
	return real.pthread_mutex_unlock(mutex);
}

static int live_rwlock_unlock(pthread_rwlock_t *lock)
{
	st_pair_release(lock);
	return real.pthread_rwlock_unlock(lock);
}

static int live_spin_unlock(pthread_spinlock_t *lock)
{
	st_pair_release((const void *)lock);
	return real.pthread_spin_unlock(lock);
}

static void interpose_releases(void)
{
	REPLACE(pthread_mutex_unlock, live_mutex_unlock);
	REPLACE(pthread_rwlock_unlock, live_rwlock_unlock);
	st_real.pthread_spin_unlock = live_spin_unlock;
}

/* --- the table -------------------------------------------------------------------------------- */

void st_live_interpose(void)
{
	real = st_real;
	if (st_live.pair.is_set != 0)
		interpose_releases();
	REPLACE(pthread_mutex_lock, live_mutex_lock);
	REPLACE(pthread_mutex_trylock, live_mutex_trylock);
	REPLACE(pthread_rwlock_rdlock, live_rdlock);
	REPLACE(pthread_rwlock_wrlock, live_wrlock);
	REPLACE(pthread_rwlock_tryrdlock, live_tryrdlock);
	REPLACE(pthread_rwlock_trywrlock, live_trywrlock);
	st_real.pthread_mutex_timedlock = live_mutex_timedlock;
	st_real.pthread_mutex_clocklock = live_mutex_clocklock;
	st_real.pthread_rwlock_timedrdlock = live_timedrdlock;
	st_real.pthread_rwlock_clockrdlock = live_clockrdlock;
	st_real.pthread_rwlock_timedwrlock = live_timedwrlock;
	st_real.pthread_rwlock_clockwrlock = live_clockwrlock;
	st_real.pthread_spin_lock = live_spin_lock;
	st_real.pthread_spin_trylock = live_spin_trylock;
	st_real.sem_wait = live_sem_wait;
	st_real.sem_trywait = live_sem_trywait;
	st_real.sem_timedwait = live_sem_timedwait;
	st_real.sem_clockwait = live_sem_clockwait;
	st_real.pthread_cond_wait = live_cond_wait;
	st_real.pthread_cond_timedwait = live_cond_timedwait;
	st_real.pthread_cond_clockwait = live_cond_clockwait;
	st_try.mutex = st_mutex_look;
	st_try.rdlock = st_rdlock_look;
	st_try.wrlock = st_wrlock_look;
	st_try.spin = st_spin_look;
	st_try.sem = st_sem_look;
}
