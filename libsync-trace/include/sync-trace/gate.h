/* SPDX-License-Identifier: MIT */
/*
 * A gate keeps code that interrupts a thread, a signal handler for example, from data that is being
 * changed. It is 0 if it is open, and otherwise the stack pointer of the code that closed it, for
 * jumps past that frame (record/jump.c).
 */
#ifndef ST_GATE_H
#define ST_GATE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Closes the gate. Returns true if it was closed already. It is one instruction, so only one of two
 * contexts of a thread finds the gate open; without a lock prefix, since no other thread accesses
 * it.
 */
static inline __attribute__((always_inline)) bool st_gate_shut(uintptr_t *gate)
{
	uintptr_t open = 0;
	bool was_open;

	__asm__ volatile("cmpxchgq %%rsp, %0"
			 : "+m"(*gate), "+a"(open), "=@ccz"(was_open)
			 :
			 : "memory");
	return !was_open;
}

static inline __attribute__((always_inline)) void st_gate_open(uintptr_t *gate)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(gate, 0, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#endif
