/* SPDX-License-Identifier: MIT */
/*
 * Instructions of x86-64, as far as they move pointers.  Registers have their numbers in DWARF (0:
 * rax, 5: rdi, 6: rbp, 7: rsp, ...).
 */
#ifndef PP_SYMBOLS_INSTRUCTION_H
#define PP_SYMBOLS_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PP_RAX = 0,
	PP_RDI = 5,
	PP_N_REGISTERS = 16,
	PP_NO_REGISTER = -1,
};

/* Caller-saved: all others keep their values over a call. */
#define PP_REGISTERS_LOST_BY_CALLS 0x0f37u

enum pp_instruction_kind {
	PP_INSTRUCTION_OTHER,	/* changes the registers in `written` */
	PP_INSTRUCTION_MOVE,	/* to = from, all of these with 64 bits */
	PP_INSTRUCTION_LOAD,	/* to = memory */
	PP_INSTRUCTION_STORE,	/* memory = from */
	PP_INSTRUCTION_ADDRESS, /* to = address of the memory */
	PP_INSTRUCTION_ADD,	/* to += from, or += number if `from` is no register */
	PP_INSTRUCTION_TEST,	/* is `from`, or memory if that is no register, zero? */
	PP_INSTRUCTION_CALL,
	PP_INSTRUCTION_JUMP,
	PP_INSTRUCTION_BRANCH, /* may jump */
	PP_INSTRUCTION_RETURN,
};

enum pp_branch { PP_BRANCH_OTHER, PP_BRANCH_IF_ZERO, PP_BRANCH_UNLESS_ZERO };

/* base + index * n + offset; without a base, `offset` has the link-time address. */
struct pp_memory_operand {
	int base, index;
	int64_t offset;
};

struct pp_instruction {
	enum pp_instruction_kind kind;
	unsigned len_bytes;
	uint32_t written; /* OTHER: bit n stands for register n */
	int to, from;
	int64_t number;
	bool has_memory; /* OTHER: writes there */
	struct pp_memory_operand memory;
	uint64_t target; /* of a call or a jump; 0: not known */
	enum pp_branch branch;
};

/*
 * Decodes the instruction at the address, of whose bytes `n_bytes` are known.  Returns false if it
 * cannot be decoded, or gprof-mt was built without Zydis.
 */
bool pp_instruction_decode(const uint8_t *bytes, size_t n_bytes, uint64_t address,
			   struct pp_instruction *ret);

#endif
