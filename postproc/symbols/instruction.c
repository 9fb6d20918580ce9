/* SPDX-License-Identifier: MIT */
/* See instruction.h.  The only user of Zydis in gprof-mt. */
#include "symbols/instruction.h"

#ifdef PP_HAS_ZYDIS
#include <Zydis/Zydis.h>

struct decoded {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t address;
};

/* --- operands --------------------------------------------------------------------------------- */

/* The general register that contains this one. */
static int number_of(ZydisRegister which)
{
	/* DWARF orders the first eight in another way than instructions do. */
	static const int8_t numbers[PP_N_REGISTERS] = {0, 2, 1,	 3,  7,	 6,  4,	 5,
						       8, 9, 10, 11, 12, 13, 14, 15};
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, which);

	return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15
		   ? numbers[whole - ZYDIS_REGISTER_RAX]
		   : PP_NO_REGISTER;
}

static bool is_whole(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       ZydisRegisterGetClass(operand->reg.value) == ZYDIS_REGCLASS_GPR64;
}

static bool is_zero(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand->imm.value.u == 0;
}

/* Returns false if it is no memory of the program's address space, as thread-local variables. */
static bool set_memory(const struct decoded *self, const ZydisDecodedOperand *operand,
		       struct pp_instruction *ret)
{
	ZydisRegister base = operand->mem.base;

	if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
	    operand->mem.segment == ZYDIS_REGISTER_FS || operand->mem.segment == ZYDIS_REGISTER_GS)
		return false;
	ret->has_memory = true;
	ret->memory = (struct pp_memory_operand){
	    .base = number_of(base),
	    .index = number_of(operand->mem.index),
	    .offset = operand->mem.disp.value,
	};
	if (base == ZYDIS_REGISTER_RIP)
		ret->memory.offset += (int64_t)(self->address + self->instruction.length);
	return base == ZYDIS_REGISTER_RIP || base == ZYDIS_REGISTER_NONE || ret->memory.base >= 0;
}

static uint64_t target_of(const struct decoded *self)
{
	const ZydisDecodedOperand *operand = &self->operands[0];

	return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand->imm.is_relative
		   ? self->address + self->instruction.length + operand->imm.value.u
		   : 0;
}

/* --- instructions ----------------------------------------------------------------------------- */

static enum pp_instruction_kind classify_move(const struct decoded *self,
					      struct pp_instruction *ret)
{
	const ZydisDecodedOperand *to = &self->operands[0], *from = &self->operands[1];

	ret->to = is_whole(to) ? number_of(to->reg.value) : PP_NO_REGISTER;
	ret->from = is_whole(from) ? number_of(from->reg.value) : PP_NO_REGISTER;
	if (ret->to >= 0 && ret->from >= 0)
		return PP_INSTRUCTION_MOVE;
	if (ret->to >= 0 && set_memory(self, from, ret))
		return PP_INSTRUCTION_LOAD;
	if (ret->from >= 0 && set_memory(self, to, ret))
		return PP_INSTRUCTION_STORE;
	return PP_INSTRUCTION_OTHER;
}

static enum pp_instruction_kind classify_add(const struct decoded *self, struct pp_instruction *ret)
{
	const ZydisDecodedOperand *to = &self->operands[0], *from = &self->operands[1];

	if (!is_whole(to))
		return PP_INSTRUCTION_OTHER;
	ret->to = number_of(to->reg.value);
	if (is_whole(from)) {
		ret->from = number_of(from->reg.value);
		return PP_INSTRUCTION_ADD;
	}
	if (from->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return PP_INSTRUCTION_OTHER;
	ret->number = from->imm.value.s;
	return PP_INSTRUCTION_ADD;
}

static enum pp_instruction_kind classify_test(const struct decoded *self,
					      struct pp_instruction *ret)
{
	const ZydisDecodedOperand *a = &self->operands[0], *b = &self->operands[1];
	bool is_same = self->instruction.mnemonic == ZYDIS_MNEMONIC_TEST && is_whole(b) &&
		       a->reg.value == b->reg.value;

	if (!is_same && !is_zero(b))
		return PP_INSTRUCTION_OTHER;
	if (is_whole(a)) {
		ret->from = number_of(a->reg.value);
		return PP_INSTRUCTION_TEST;
	}
	return a->size == 64 && set_memory(self, a, ret) ? PP_INSTRUCTION_TEST
							 : PP_INSTRUCTION_OTHER;
}

static enum pp_instruction_kind classify(const struct decoded *self, struct pp_instruction *ret)
{
	switch (self->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		return classify_move(self, ret);
	case ZYDIS_MNEMONIC_LEA:
		ret->to = number_of(self->operands[0].reg.value);
		return is_whole(&self->operands[0]) && set_memory(self, &self->operands[1], ret)
			   ? PP_INSTRUCTION_ADDRESS
			   : PP_INSTRUCTION_OTHER;
	case ZYDIS_MNEMONIC_ADD:
		return classify_add(self, ret);
	case ZYDIS_MNEMONIC_TEST:
	case ZYDIS_MNEMONIC_CMP:
		return classify_test(self, ret);
	default:
		break;
	}
	switch (self->instruction.meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return PP_INSTRUCTION_CALL;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return PP_INSTRUCTION_JUMP;
	case ZYDIS_CATEGORY_COND_BR:
		return PP_INSTRUCTION_BRANCH;
	case ZYDIS_CATEGORY_RET:
		return PP_INSTRUCTION_RETURN;
	default:
		return PP_INSTRUCTION_OTHER;
	}
}

static void set_written(const struct decoded *self, struct pp_instruction *ret)
{
	ret->has_memory = false;
	for (unsigned i = 0; i < self->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &self->operands[i];
		int number;

		if ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0)
			continue;
		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
			number = number_of(operand->reg.value);
			ret->written |= number >= 0 ? 1u << number : 0;
		} else {
			set_memory(self, operand, ret);
		}
	}
}

static enum pp_branch branch_of(const struct decoded *self)
{
	return self->instruction.mnemonic == ZYDIS_MNEMONIC_JZ	  ? PP_BRANCH_IF_ZERO
	       : self->instruction.mnemonic == ZYDIS_MNEMONIC_JNZ ? PP_BRANCH_UNLESS_ZERO
								  : PP_BRANCH_OTHER;
}

bool pp_instruction_decode(const uint8_t *bytes, size_t n_bytes, uint64_t address,
			   struct pp_instruction *ret)
{
	struct decoded self = {.address = address};
	ZydisDecoder decoder;

	if (!ZYAN_SUCCESS(
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(
		ZydisDecoderDecodeFull(&decoder, bytes, n_bytes, &self.instruction, self.operands)))
		return false;
	*ret = (struct pp_instruction){
	    .len_bytes = self.instruction.length, .to = PP_NO_REGISTER, .from = PP_NO_REGISTER};
	ret->kind = classify(&self, ret);
	ret->target = target_of(&self);
	ret->branch = branch_of(&self);
	if (ret->kind == PP_INSTRUCTION_OTHER)
		set_written(&self, ret);
	return true;
}

#else

bool pp_instruction_decode(const uint8_t *bytes, size_t n_bytes, uint64_t address,
			   struct pp_instruction *ret)
{
	(void)bytes;
	(void)n_bytes;
	(void)address;
	(void)ret;
	return false;
}

#endif
