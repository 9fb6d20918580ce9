/* SPDX-License-Identifier: MIT */
/* Locks that may be interrupted, and that wait for a limited time (lock.h). */
#include <errno.h>
#include <signal.h>

#include "runtime/sys/futex.h"
#include "runtime/sys/lock.h"

/* Rounds of WAIT_NS, so that the time in which the process is stopped does not count. */
#define PATIENCE_ROUNDS 50
#define WAIT_NS		100000000

/*
 * Stacks grow down: code that does not run below a frame, on the same stack, was not called from
 * it. On an alternate stack this is unknown.
 */
static bool frame_is_left(uintptr_t left, uintptr_t now)
{
	stack_t alternate;

	return now >= left && (gm_syscall3(SYS_sigaltstack, 0, (long)&alternate, 0) != 0 ||
			       (alternate.ss_flags & SS_ONSTACK) == 0);
}

enum gm_entry gm_inside_enter(struct gm_inside *inside, uintptr_t frame)
{
	uint32_t tid = (uint32_t)gm_sys_gettid();
	bool is_left = false;

	if (__atomic_load_n(&inside->tid, __ATOMIC_RELAXED) == tid) {
		is_left = frame_is_left(inside->frame, frame);
		if (!is_left)
			return GM_ENTRY_NESTED;
	}
	inside->frame = frame;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&inside->tid, tid, __ATOMIC_RELAXED);
	return is_left ? GM_ENTRY_LEFT : GM_ENTRY_FIRST;
}

bool gm_lock_is_mine(const struct gm_lock *lock)
{
	return __atomic_load_n(&lock->holder.tid, __ATOMIC_RELAXED) == (uint32_t)gm_sys_gettid() &&
	       !frame_is_left(lock->holder.frame, gm_frame());
}

/* Waits for the word. Returns false if it is not released in time. */
static bool word_take(struct gm_lock *lock)
{
	static const struct timespec round = {0, WAIT_NS};
	uint32_t seen = 0;

	/* acquire: pairs with the release in gm_lock_release() */
	if (__atomic_compare_exchange_n(&lock->word, &seen, 1, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED))
		return true;
	for (unsigned i = 0; !lock->is_stuck && i < PATIENCE_ROUNDS;) {
		if (__atomic_exchange_n(&lock->word, 2, __ATOMIC_ACQUIRE) == 0)
			return true;
		if (gm_syscall6(SYS_futex, (long)&lock->word, FUTEX_WAIT_PRIVATE, 2, (long)&round,
				0, 0) == -ETIMEDOUT)
			i++;
	}
	lock->is_stuck = true;
	return false;
}

bool gm_lock_take(struct gm_lock *lock)
{
	uint32_t tid = (uint32_t)gm_sys_gettid();
	uintptr_t frame = gm_frame();

	if (__atomic_load_n(&lock->holder.tid, __ATOMIC_RELAXED) == tid) {
		if (frame_is_left(lock->holder.frame, frame)) {
			lock->holder.frame = frame;
			lock->depth = 0;
		}
		lock->depth++;
		return true;
	}
	if (!word_take(lock))
		return false;
	lock->is_stuck = false;
	lock->depth = 1;
	lock->holder.frame = frame;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&lock->holder.tid, tid, __ATOMIC_RELAXED);
	return true;
}

void gm_lock_release(struct gm_lock *lock)
{
	if (--lock->depth > 0)
		return;
	__atomic_store_n(&lock->holder.tid, 0, __ATOMIC_RELAXED);
	/* release: pairs with the acquires in word_take() */
	if (__atomic_exchange_n(&lock->word, 0, __ATOMIC_RELEASE) == 2)
		gm_futex_wake(&lock->word, 1);
}

void gm_lock_abandon(struct gm_lock *lock, uint32_t tid)
{
	if (__atomic_load_n(&lock->holder.tid, __ATOMIC_RELAXED) != tid)
		return;
	lock->depth = 0;
	__atomic_store_n(&lock->holder.tid, 0, __ATOMIC_RELAXED);
	/* release: as in gm_lock_release(); waiters check the word periodically */
	__atomic_store_n(&lock->word, 0, __ATOMIC_RELEASE);
}

void gm_making_begin(struct gm_making *making)
{
	making->is_stuck = false;
	__atomic_store_n(&making->tid, (uint32_t)gm_sys_gettid(), __ATOMIC_RELAXED);
}

int gm_making_wait(struct gm_making *making, const uint32_t *word, uint32_t value)
{
	static const struct timespec round = {0, WAIT_NS};
	uint32_t tid = (uint32_t)gm_sys_gettid();

	for (unsigned i = 0; i < PATIENCE_ROUNDS;) {
		/* acquire: pairs with the release store of the word when the step is done */
		if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
			return 0;
		if (gm_making_is_by(making, tid))
			return -EDEADLK;
		if (making->is_stuck)
			break;
		if (gm_syscall6(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value, (long)&round, 0,
				0) == -ETIMEDOUT)
			i++;
	}
	making->is_stuck = true;
	return -ETIMEDOUT;
}
