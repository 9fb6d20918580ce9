/* SPDX-License-Identifier: MIT */
/*
 * A number that rises, and threads that wait until it has reached a value. Each value is set, one
 * after the other, or those that nobody waits for are left out.
 *
 * A futex's bitset selects the waiters, so a value wakes those that wait for it, and one in 32 of
 * the others.
 */
#ifndef PP_REPLAY_SKELETON_GATE_H
#define PP_REPLAY_SKELETON_GATE_H

#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

struct pp_gate {
	uint32_t value, n_waiting;
};

static inline bool pp_gate_has_reached(const struct pp_gate *gate, uint32_t value)
{
	/* acquire: pairs with the stores in pp_gate_set() and pp_gate_step() */
	return __atomic_load_n(&gate->value, __ATOMIC_ACQUIRE) >= value;
}

static inline void pp_gate_wait(struct pp_gate *gate, uint32_t value)
{
	uint32_t found;

	/* seq_cst: either the setter sees the waiter, or the waiter sees the value */
	__atomic_fetch_add(&gate->n_waiting, 1, __ATOMIC_SEQ_CST);
	while ((found = __atomic_load_n(&gate->value, __ATOMIC_SEQ_CST)) < value)
		syscall(SYS_futex, &gate->value, FUTEX_WAIT_BITSET_PRIVATE, found, NULL, NULL,
			1u << value % 32);
	__atomic_fetch_sub(&gate->n_waiting, 1, __ATOMIC_RELAXED);
}

static inline void pp_gate_wake(struct pp_gate *gate, uint32_t value)
{
	if (__atomic_load_n(&gate->n_waiting, __ATOMIC_SEQ_CST) != 0)
		syscall(SYS_futex, &gate->value, FUTEX_WAKE_BITSET_PRIVATE, INT32_MAX, NULL, NULL,
			1u << value % 32);
}

/* One thread sets the gate. */
static inline void pp_gate_set(struct pp_gate *gate, uint32_t value)
{
	__atomic_store_n(&gate->value, value, __ATOMIC_SEQ_CST);
	pp_gate_wake(gate, value);
}

/* Any thread. */
static inline void pp_gate_step(struct pp_gate *gate)
{
	pp_gate_wake(gate, __atomic_add_fetch(&gate->value, 1, __ATOMIC_SEQ_CST));
}

#endif
