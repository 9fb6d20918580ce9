/* SPDX-License-Identifier: MIT */
/*
 * Predicts the next instruction of a thread, from its bytes and the thread's registers: the memory
 * that it touches, and what the stepper must know before it is executed. No state, no allocation;
 * memory is read only at `code` and in the registers.
 */
#ifndef ST_STEP_EFFECTS_H
#define ST_STEP_EFFECTS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#define STEP_INSTRUCTION_MAX 15u
#define STEP_TOUCHED_MAX     20u /* 16 elements of a gather, and two more operands */

struct step_touched {
	uintptr_t address;
	uint32_t n_bytes;
	uint8_t kind; /* ACCESS_READ, ACCESS_WRITE */
	/*
	 * Part of how code is called, and not of what it does: the stack in push, pop, call and
	 * return; the address of a function of another library, in a table of the loader.
	 */
	bool is_linkage;
};

struct step_effects {
	uint32_t n, length;
	bool is_syscall, pushes_flags, moves_stack;
	uintptr_t stack; /* if moves_stack: the new stack pointer */
	struct step_touched touched[STEP_TOUCHED_MAX];
};

/* Called once. Returns false if the decoder is not the one that this library was built with. */
bool step_decoder_prepare(void);

/*
 * Returns false if the effects are not known, or if the instruction belongs to the program and the
 * kernel alone: one that raises a signal or returns from one, or changes what stepping relies on.
 * code: n bytes at the instruction pointer of `context`.
 */
bool step_effects(const uint8_t *code, unsigned n, const ucontext_t *context,
		  struct step_effects *ret);

#endif
