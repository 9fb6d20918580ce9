/* SPDX-License-Identifier: MIT */
/*
 * The pair at the end of a schedule: two sections of one lock, which are executed one after the
 * other in the order that the schedule says.
 *
 * Both threads wait in front of their sections until all threads have begun all operations of the
 * schedule. So the state is the same in each run, whichever section is first. From then on, no
 * operation begins outside of the two sections until both are over; within them, locks are taken as
 * they come. Digests are computed with the lock held, so no thread that takes it can change the
 * bytes meanwhile.
 *
 * No thread waits here for ever: without progress the replay is left, as for any turn.
 */
#include <time.h>

#include "live/live.h"
#include "record/internal.h"
#include "runtime/sys/futex.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/sys.h"
#include "sync-trace/accesses.h"

#define SLICE_NS  50000000
#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

/* The phases of a pair; they only go up. */
enum { PHASE_BEFORE, PHASE_FIRST, PHASE_BETWEEN, PHASE_SECOND };

static struct {
	uint32_t n_arrived;
	uint32_t depth; /* acquisitions of the lock that its section has not released yet */
	const void *lock;
} pair;

static uint32_t phase_now(void)
{
	/* acquire: pairs with set_phase() */
	return __atomic_load_n(&st_live.phase, __ATOMIC_ACQUIRE);
}

static void set_phase(uint32_t phase)
{
	__atomic_store_n(&st_live.phase, phase, __ATOMIC_RELEASE);
	gm_futex_wake(&st_live.phase, INT_MAX);
}

/* --- digests ---------------------------------------------------------------------------------- */

/* The load bias of a module follows from a call site of it that has been seen; 0: none was. */
static uintptr_t bias_of(uint32_t module)
{
	for (uint32_t i = 0; i < st_live.n_sites; i++) {
		uintptr_t address = __atomic_load_n(&st_live.addresses[i], __ATOMIC_RELAXED);

		if (address != 0 && st_live.sites[i].module == module)
			return address - st_live.sites[i].offset;
	}
	return 0;
}

static bool read_line(const struct st_schedule_line *line, uint8_t *into)
{
	uintptr_t bias = 0;

	if (line->module != ST_SCHEDULE_NONE) {
		bias = bias_of(line->module);
		if (bias == 0)
			return false;
	}
	return gm_memory_read(into, bias + line->offset, ST_LINE_BYTES);
}

/* Takes the bytes that only this thread's section writes, or those of both (ST_SCHEDULE_NONE). */
static uint64_t digest_of(uint32_t thread)
{
	uint64_t digest = FNV_BASIS;

	for (uint32_t i = 0; i < st_live.pair.n_lines; i++) {
		const struct st_schedule_line *line = &st_live.lines[i];
		uint8_t bytes[ST_LINE_BYTES];

		if (line->thread != thread)
			continue;
		if (!read_line(line, bytes)) {
			st_live.page->digests.n_unread++;
			continue;
		}
		for (uint64_t left = line->bytes; left != 0; left &= left - 1)
			digest = (digest ^ bytes[__builtin_ctzll(left)]) * FNV_PRIME;
	}
	return digest;
}

/* --- waiting ---------------------------------------------------------------------------------- */

static bool is_first(const struct st_turn *turn)
{
	return turn->thread == st_live.pair.first;
}

static bool all_have_arrived(const struct st_turn *turn)
{
	/* acquire: pairs with st_pair_await() and st_turn_taken() */
	if (__atomic_load_n(&pair.n_arrived, __ATOMIC_ACQUIRE) != 2 ||
	    __atomic_load_n(&st_live.objects[turn->op->object].n_acquired, __ATOMIC_ACQUIRE) <
		st_live.pair.n_before)
		return false;
	for (uint32_t i = 0; i < st_live.n_threads; i++)
		if (__atomic_load_n(&st_live.running[i].n_begun, __ATOMIC_RELAXED) <
		    st_live.threads[i].n_ops)
			return false;
	return true;
}

/* Sleeps for a slice at most, unless the phase has changed. */
static void sleep_in(uint32_t phase)
{
	const struct timespec slice = {0, SLICE_NS};

	gm_syscall6(SYS_futex, (long)&st_live.phase, FUTEX_WAIT_PRIVATE, phase, (long)&slice, 0, 0);
}

bool st_pair_await(const struct st_turn *turn)
{
	struct st_patience patience = {0};
	uint32_t phase;

	__atomic_fetch_add(&pair.n_arrived, 1, __ATOMIC_RELEASE);
	if (is_first(turn)) {
		while (st_turns_are_on() && !all_have_arrived(turn))
			if (!st_turn_is_stuck(turn, &patience))
				st_turn_sleep(0, NULL);
		return st_turns_are_on();
	}
	while (st_turns_are_on() && (phase = phase_now()) < PHASE_BETWEEN)
		if (!st_turn_is_stuck(turn, &patience))
			sleep_in(phase);
	return st_turns_are_on();
}

void st_pair_hold(const struct st_turn *turn)
{
	struct st_patience patience = {0};

	while (st_turns_are_on())
		if (!st_turn_is_stuck(turn, &patience))
			sleep_in(phase_now());
}

/* --- the sections ----------------------------------------------------------------------------- */

void st_pair_taken(const struct st_turn *turn, const void *lock)
{
	st_pair_is_inside = true;
	pair.lock = lock;
	pair.depth = 1;
	if (is_first(turn))
		st_live.page->digests.before = digest_of(ST_SCHEDULE_NONE);
	set_phase(is_first(turn) ? PHASE_FIRST : PHASE_SECOND);
}

void st_pair_again(const void *lock)
{
	if (st_pair_is_inside && lock == pair.lock)
		pair.depth++;
}

static void end_first(struct st_schedule_digests *digests)
{
	digests->between = digest_of(ST_SCHEDULE_NONE);
	digests->of_first = digest_of(st_live.pair.first);
	set_phase(PHASE_BETWEEN);
}

static void end_second(struct st_schedule_digests *digests)
{
	digests->after = digest_of(ST_SCHEDULE_NONE);
	digests->of_second = digest_of(st_live.pair.second);
	if (st_live_stop())
		st_live_publish(ST_SCHEDULE_PAIRED);
}

void st_pair_release(const void *lock)
{
	if (!st_pair_is_inside || lock != pair.lock || --pair.depth != 0)
		return;
	st_pair_is_inside = false;
	if (!st_turns_are_on())
		return;
	if (phase_now() == PHASE_FIRST)
		end_first(&st_live.page->digests);
	else
		end_second(&st_live.page->digests);
}
