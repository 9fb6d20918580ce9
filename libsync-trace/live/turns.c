/* SPDX-License-Identifier: MIT */
/*
 * Turns: a thread waits until as many acquisitions of an object have been made as in the recorded
 * run, then acquires it, and counts its own.
 *
 * A thread whose turn has come sees the counter reach it: it spins shortly, then sleeps on the
 * counter's futex, with the bit of its turn, so that only those whose turn it is are woken.
 *
 * No thread waits for ever. A sleeper wakes up periodically, and sums the operations that all
 * threads have begun. If the sum has not changed for the schedule's patience, the replay is left:
 * the place is reported once, and all threads go on without an order. The patience is longer while
 * threads use CPU time.
 */
#include <errno.h>
#include <time.h>

#include "live/live.h"
#include "record/internal.h"
#include "runtime/sys/futex.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define NS_PER_S      UINT64_C(1000000000)
#define N_SPINS	      200
#define SLICE_NS      50000000
#define MOMENT_NS     50000
#define BUSY_PATIENCE 10 /* times the patience, while a tenth of a CPU is used */

/* The number of the calling thread, plus 1; 0: it takes no part. */
static __thread uint32_t own_number __attribute__((tls_model("initial-exec")));

__thread uintptr_t st_turn_site __attribute__((tls_model("initial-exec")));

__thread bool st_pair_is_inside __attribute__((tls_model("initial-exec")));

bool st_turns_are_on(void)
{
	/* acquire: pairs with the release in st_live_open() */
	return st_live.is_on != NULL && __atomic_load_n(st_live.is_on, __ATOMIC_ACQUIRE) != 0;
}

/* --- leaving the order ------------------------------------------------------------------------ */

static void wake_all(void)
{
	for (uint32_t i = 0; i < st_live.n_objects; i++)
		if (__atomic_load_n(&st_live.objects[i].n_sleepers, __ATOMIC_RELAXED) != 0)
			gm_futex_wake(&st_live.objects[i].n_acquired, INT_MAX);
	gm_futex_wake(&st_live.phase, INT_MAX);
}

bool st_live_stop(void)
{
	uint32_t on = 1;

	return __atomic_compare_exchange_n(st_live.is_on, &on, 0, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/* Sleepers that have not seen the change yet wake up after a slice. */
void st_live_publish(enum st_schedule_state state)
{
	/* release: the command reads the other fields of the page after this one */
	__atomic_store_n(&st_live.page->outcome.state, state, __ATOMIC_RELEASE);
	wake_all();
}

/* The first caller reports. */
static void leave(enum st_schedule_why why, uint32_t thread, uint64_t op, uint32_t event,
		  uintptr_t site)
{
	struct st_schedule_outcome *outcome = &st_live.page->outcome;

	if (!st_live_stop())
		return;
	outcome->why = why;
	outcome->thread = thread;
	outcome->op = op;
	outcome->event = event;
	outcome->site = site;
	st_live_publish(ST_SCHEDULE_LEFT);
}

/* --- operations ------------------------------------------------------------------------------- */

/* The operation has this turn, or none. */
static bool is_of_pair(const struct st_turn *turn)
{
	const struct st_schedule_pair *pair = &st_live.pair;

	return pair->is_set != 0 && (turn->thread == pair->first || turn->thread == pair->second) &&
	       turn->number + 1 == st_live.threads[turn->thread].n_ops;
}

struct st_turn st_turn_next(enum st_event event)
{
	const struct st_schedule_thread *thread;
	const struct st_schedule_op *op;
	struct st_turn turn = {0};
	uintptr_t site = st_turn_site;

	st_turn_site = 0;
	if (own_number == 0 || !st_turns_are_on())
		return turn;
	turn.thread = own_number - 1;
	thread = &st_live.threads[turn.thread];
	turn.number = st_live.running[turn.thread].n_begun;
	__atomic_store_n(&st_live.running[turn.thread].n_begun, turn.number + 1, __ATOMIC_RELAXED);
	if (turn.number >= thread->n_ops) {
		turn.is_held = st_live.pair.is_set != 0 && !st_pair_is_inside;
		if (thread->ended)
			leave(ST_LEFT_MORE, turn.thread, turn.number, event, site);
		return turn;
	}
	op = &st_live.ops[thread->first_op + turn.number];
	if (op->event != event || !st_live_is_site(op->site, site))
		leave(ST_LEFT_OTHER, turn.thread, turn.number, event, site);
	else if (op->turn != ST_TURN_NONE && op->object >= st_live.n_objects)
		leave(ST_LEFT_DAMAGED, turn.thread, turn.number, event, site);
	else
		turn.op = op;
	turn.is_of_pair = turn.op != NULL && is_of_pair(&turn);
	return turn;
}

static bool is_over(struct st_patience *patience)
{
	uint64_t n_begun = 0, now_ns = gm_sys_clock_ns(CLOCK_MONOTONIC), ns;

	for (uint32_t i = 0; i < st_live.n_threads; i++)
		n_begun += __atomic_load_n(&st_live.running[i].n_begun, __ATOMIC_RELAXED);
	if (patience->since_ns == 0 || n_begun != patience->n_begun) {
		*patience = (struct st_patience){n_begun, now_ns,
						 gm_sys_clock_ns(CLOCK_PROCESS_CPUTIME_ID)};
		return false;
	}
	ns = now_ns - patience->since_ns;
	if (ns < st_live.patience_ns)
		return false;
	return ns / BUSY_PATIENCE >= st_live.patience_ns ||
	       gm_sys_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - patience->since_cpu_ns < ns / 10;
}

bool st_turn_is_stuck(const struct st_turn *turn, struct st_patience *patience)
{
	if (!gm_seal_is_set() && !is_over(patience))
		return false;
	leave(ST_LEFT_STUCK, turn->thread, turn->number,
	      turn->op != NULL ? turn->op->event : ST_N_EVENTS, 0);
	return true;
}

static uint32_t bit_of(uint32_t turn)
{
	return 1u << (turn & 31);
}

/* Sleeps for a slice at most, unless the counter has changed. */
static void sleep_on(struct st_live_object *object, uint32_t seen, uint32_t turn)
{
	uint64_t until_ns = gm_sys_clock_ns(CLOCK_MONOTONIC) + SLICE_NS;
	struct timespec until = {(time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S)};

	/* seq_cst: pairs with st_turn_taken(): it sees this sleeper, or the kernel its count */
	__atomic_fetch_add(&object->n_sleepers, 1, __ATOMIC_SEQ_CST);
	gm_syscall6(SYS_futex, (long)&object->n_acquired, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG,
		    seen, (long)&until, 0, bit_of(turn));
	__atomic_fetch_sub(&object->n_sleepers, 1, __ATOMIC_RELAXED);
}

bool st_turn_await(const struct st_turn *turn)
{
	struct st_live_object *object = &st_live.objects[turn->op->object];
	struct st_patience patience = {0};
	uint32_t seen = 0;

	for (unsigned spins = 0; spins < N_SPINS; spins++) {
		/* acquire: pairs with st_turn_taken(): what was done in the turn before is seen */
		seen = __atomic_load_n(&object->n_acquired, __ATOMIC_ACQUIRE);
		if (seen >= turn->op->turn)
			return st_turns_are_on();
		__builtin_ia32_pause();
	}
	while (seen < turn->op->turn) {
		if (!st_turns_are_on())
			return false;
		if (st_turn_is_stuck(turn, &patience))
			return false;
		sleep_on(object, seen, turn->op->turn);
		seen = __atomic_load_n(&object->n_acquired, __ATOMIC_ACQUIRE);
	}
	return st_turns_are_on();
}

void st_turn_taken(const struct st_turn *turn)
{
	struct st_live_object *object = &st_live.objects[turn->op->object];
	/* seq_cst: pairs with sleep_on() */
	uint32_t n = __atomic_add_fetch(&object->n_acquired, 1, __ATOMIC_SEQ_CST);

	if (__atomic_load_n(&object->n_sleepers, __ATOMIC_SEQ_CST) != 0)
		gm_syscall6(SYS_futex, (long)&object->n_acquired,
			    FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, INT_MAX, 0, 0, bit_of(n));
}

void st_turn_failed(const struct st_turn *turn)
{
	if (st_turns_are_on())
		leave(ST_LEFT_RESULT, turn->thread, turn->number, turn->op->event, 0);
}

void st_turn_sleep(int clock, const struct timespec *until)
{
	const struct timespec moment = {0, MOMENT_NS};
	uint32_t word = 0;
	int how = FUTEX_WAIT | FUTEX_PRIVATE_FLAG;

	if (gm_seal_is_set())
		return;
	if (until == NULL) {
		gm_syscall6(SYS_futex, (long)&word, how, 0, (long)&moment, 0, 0);
		return;
	}
	how = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG;
	if (clock == CLOCK_REALTIME)
		how |= FUTEX_CLOCK_REALTIME;
	/* a signal may end it early */
	while (st_turns_are_on() && gm_syscall6(SYS_futex, (long)&word, how, 0, (long)until, 0,
						(long)FUTEX_BITSET_MATCH_ANY) == -EINTR)
		;
}

/* --- threads ---------------------------------------------------------------------------------- */

uint32_t st_live_create(void)
{
	uint32_t creator = own_number - 1, nth;

	if (own_number == 0 || !st_turns_are_on())
		return 0;
	nth = __atomic_fetch_add(&st_live.running[creator].n_created, 1, __ATOMIC_RELAXED);
	for (uint32_t i = creator + 1; i < st_live.n_threads; i++)
		if (st_live.threads[i].creator == creator && st_live.threads[i].nth == nth)
			return i + 1;
	leave(ST_LEFT_THREAD, creator, st_live.running[creator].n_begun, ST_EVENT_thread_create, 0);
	return 0;
}

void st_live_create_failed(void)
{
	if (own_number != 0 && st_turns_are_on())
		__atomic_fetch_sub(&st_live.running[own_number - 1].n_created, 1, __ATOMIC_RELAXED);
}

void st_live_begin(uint32_t number)
{
	own_number = number;
}

void st_live_end(void)
{
	uint32_t number = own_number - 1;

	if (own_number == 0 || !st_turns_are_on())
		return;
	own_number = 0;
	if (st_live.threads[number].ended &&
	    st_live.running[number].n_begun < st_live.threads[number].n_ops)
		leave(ST_LEFT_FEWER, number, st_live.running[number].n_begun, ST_N_EVENTS, 0);
}
