/* SPDX-License-Identifier: MIT */
/*
 * Call paths by unwind tables: the return addresses on a thread's stack, in any code.
 *
 * A walk is async-signal-safe. It takes no lock, allocates no heap memory, and reads memory only in
 * the known part of the thread's stack and in the unwind tables of loaded objects. It may begin at
 * any instruction.
 */
#ifndef GM_RUNTIME_UNWIND_H
#define GM_RUNTIME_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/unwind/stack.h"

/* Register numbers of the x86-64 psABI, figure 3.36 (DWARF Register Number Mapping). */
enum {
	GM_RBX = 3,
	GM_RBP = 6,
	GM_RSP = 7,
	GM_R12 = 12,
	GM_R13 = 13,
	GM_R14 = 14,
	GM_R15 = 15,
	GM_RIP = 16,
	GM_N_REGISTERS = 17
};

struct gm_registers {
	uint64_t value[GM_N_REGISTERS];
	uint32_t known; /* a bit for each register */
	/* RIP is the next instruction to be executed; otherwise it is a return address. */
	bool interrupted;
};

/* Why a path ends. */
enum gm_unwind_end {
	GM_END_OUTERMOST,  /* complete: the tables mark the first frame of a thread */
	GM_END_DEPTH,	   /* more frames than wanted */
	GM_END_NO_OBJECT,  /* code outside of all loaded objects */
	GM_END_NO_TABLE,   /* the code has no unwind table, and no frame pointer */
	GM_END_BAD_TABLE,  /* the table is damaged, or disagrees with the code */
	GM_END_EXPRESSION, /* a rule of a kind that is not supported */
	GM_END_STACK,	   /* the next frame is outside of the known stack */
	GM_N_ENDS
};

/*
 * Stores the path that begins at these registers, innermost frame first, and returns its length, at
 * most `max`. An entry is a return address or, for a frame that a signal interrupted, the address
 * of the interrupted instruction plus 1: in either case the byte before it belongs to the
 * instruction that the frame was executing.
 *
 * `own` is the part of the thread's own stack that is known to be readable; it is extended.
 */
unsigned gm_unwind(const struct gm_registers *start, struct gm_stack *own, uint64_t *addresses,
		   unsigned max, enum gm_unwind_end *ret_end);

/* Stores the registers of the caller that its callers may rely on; the others are unknown. */
static inline __attribute__((always_inline)) void gm_registers_here(struct gm_registers *ret)
{
	/* cppcheck-suppress ctuuninitvar; it is written */
	uint64_t *value = ret->value;

	__asm__ volatile("leaq 0(%%rip), %%rax\n\t"
			 "movq %%rax, 16*8(%0)\n\t"
			 "movq %%rbx, 3*8(%0)\n\t"
			 "movq %%rbp, 6*8(%0)\n\t"
			 "movq %%rsp, 7*8(%0)\n\t"
			 "movq %%r12, 12*8(%0)\n\t"
			 "movq %%r13, 13*8(%0)\n\t"
			 "movq %%r14, 14*8(%0)\n\t"
			 "movq %%r15, 15*8(%0)"
			 :
			 : "r"(value)
			 : "rax", "memory");
	ret->known = 1u << GM_RIP | 1u << GM_RBX | 1u << GM_RBP | 1u << GM_RSP | 1u << GM_R12 |
		     1u << GM_R13 | 1u << GM_R14 | 1u << GM_R15;
	ret->interrupted = true;
}

#endif
