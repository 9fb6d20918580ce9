/* SPDX-License-Identifier: MIT */
/* Zydis decodes; here its operands become addresses. */
#include "access/step/effects.h"

#include <Zydis/Zydis.h>

#include "access/access.h"
#include "access/step/vectors.h"

static ZydisDecoder decoder;

bool step_decoder_prepare(void)
{
	return ZYDIS_VERSION_MAJOR(ZydisGetVersion()) == ZYDIS_VERSION_MAJOR(ZYDIS_VERSION) &&
	       ZYAN_SUCCESS(
		   ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
}

struct decoded {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	const ucontext_t *context;
};

/* --- registers -------------------------------------------------------------------------------- */

/* Indexes into gregs, in the order of the register numbers of instructions. */
static const uint8_t places[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
				   REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
				   REG_R12, REG_R13, REG_R14, REG_R15};

/* Reads a general register of 16, 32 or 64 bits. Returns false if it is another one. */
static bool register_value(const ucontext_t *context, ZydisRegister which, uint64_t *ret)
{
	const greg_t *values = context->uc_mcontext.gregs;

	if (which >= ZYDIS_REGISTER_RAX && which <= ZYDIS_REGISTER_R15)
		*ret = (uint64_t)values[places[which - ZYDIS_REGISTER_RAX]];
	else if (which >= ZYDIS_REGISTER_EAX && which <= ZYDIS_REGISTER_R15D)
		*ret = (uint32_t)values[places[which - ZYDIS_REGISTER_EAX]];
	else if (which >= ZYDIS_REGISTER_AX && which <= ZYDIS_REGISTER_R15W)
		*ret = (uint16_t)values[places[which - ZYDIS_REGISTER_AX]];
	else
		return false;
	return true;
}

static bool is_stack_pointer(ZydisRegister which)
{
	return which == ZYDIS_REGISTER_RSP || which == ZYDIS_REGISTER_ESP ||
	       which == ZYDIS_REGISTER_SP;
}

/* The thread's own: the stepper runs in the thread. By the ABI its first word has its address. */
static uint64_t fs_base(void)
{
	uint64_t base;

	__asm__("mov %%fs:0, %0" : "=r"(base));
	return base;
}

/* --- addresses -------------------------------------------------------------------------------- */

/* Returns false if it is not known. */
static bool base_value(const struct decoded *self, ZydisRegister base, uint64_t *ret)
{
	uint64_t next =
	    (uint64_t)self->context->uc_mcontext.gregs[REG_RIP] + self->instruction.length;

	*ret = 0;
	if (base == ZYDIS_REGISTER_RIP || base == ZYDIS_REGISTER_EIP)
		*ret = next;
	else if (base != ZYDIS_REGISTER_NONE)
		return register_value(self->context, base, ret);
	return true;
}

static bool add_segment(const ZydisDecodedOperand *operand, uint64_t *address)
{
	if (operand->mem.segment == ZYDIS_REGISTER_FS)
		*address += fs_base();
	return operand->mem.segment != ZYDIS_REGISTER_GS;
}

static uint64_t narrow(const struct decoded *self, uint64_t address)
{
	return self->instruction.address_width == 32 ? (uint32_t)address : address;
}

/* The address without an index that is a vector, and without the segment. */
static bool plain_address(const struct decoded *self, const ZydisDecodedOperand *operand,
			  uint64_t *ret)
{
	uint64_t base, index = 0;

	if (!base_value(self, operand->mem.base, &base))
		return false;
	if (operand->mem.type != ZYDIS_MEMOP_TYPE_VSIB &&
	    operand->mem.index != ZYDIS_REGISTER_NONE &&
	    !register_value(self->context, operand->mem.index, &index))
		return false;
	*ret = narrow(self, base + index * operand->mem.scale + (uint64_t)operand->mem.disp.value);
	return true;
}

/* A bit string in memory begins at the operand; a register may name any bit of it. */
static bool add_bit_offset(const struct decoded *self, uint64_t *address)
{
	const ZydisDecodedOperand *bit = &self->operands[1];
	unsigned width = self->instruction.operand_width;
	int64_t offset;
	uint64_t value;

	if (bit->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return true;
	if (!register_value(self->context, bit->reg.value, &value))
		return false;
	offset = width == 64 ? (int64_t)value : width == 32 ? (int32_t)value : (int16_t)value;
	*address += (uint64_t)((offset >> (width == 64	 ? 6
					   : width == 32 ? 5
							 : 4)) *
			       (int64_t)(width / 8));
	return true;
}

static bool is_bit_test(ZydisMnemonic mnemonic)
{
	return mnemonic == ZYDIS_MNEMONIC_BT || mnemonic == ZYDIS_MNEMONIC_BTS ||
	       mnemonic == ZYDIS_MNEMONIC_BTR || mnemonic == ZYDIS_MNEMONIC_BTC;
}

static bool operand_address(const struct decoded *self, const ZydisDecodedOperand *operand,
			    uint64_t *ret)
{
	bool is_implied = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
	uint64_t address;

	if (!plain_address(self, operand, &address))
		return false;
	/* A push stores below the stack pointer; the target of a pop is computed behind it. */
	if (operand->mem.base == ZYDIS_REGISTER_RSP && is_implied &&
	    (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0)
		address -= operand->size / 8;
	else if (operand->mem.base == ZYDIS_REGISTER_RSP && !is_implied &&
		 self->instruction.mnemonic == ZYDIS_MNEMONIC_POP)
		address += operand->size / 8;
	else if (is_bit_test(self->instruction.mnemonic) && !add_bit_offset(self, &address))
		return false;
	else if (self->instruction.mnemonic == ZYDIS_MNEMONIC_XLAT)
		address =
		    narrow(self, address + (uint8_t)self->context->uc_mcontext.gregs[REG_RAX]);
	*ret = address;
	return add_segment(operand, ret);
}

/* --- operands --------------------------------------------------------------------------------- */

static bool touch(struct step_effects *effects, uint64_t address, uint64_t n_bits,
		  ZydisOperandActions actions)
{
	uint8_t kind = 0;

	if ((actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0)
		kind |= ACCESS_READ;
	if ((actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0)
		kind |= ACCESS_WRITE;
	if (kind == 0 || n_bits == 0)
		return true;
	if (effects->n == STEP_TOUCHED_MAX || n_bits % 8 != 0 || n_bits > 512)
		return false;
	effects->touched[effects->n++] =
	    (struct step_touched){address, (uint32_t)(n_bits / 8), kind, false};
	return true;
}

/* Elements of a vector in memory whose bit in the mask is set. */
static bool touch_masked(const struct decoded *self, const ZydisDecodedOperand *operand,
			 struct step_effects *effects)
{
	unsigned bytes = operand->element_size / 8;
	struct step_vector mask;
	uint64_t address;

	if (!step_vector_read(self->context, self->operands[1].reg.value, &mask) ||
	    !operand_address(self, operand, &address))
		return false;
	for (unsigned i = 0; i < operand->element_count; i++)
		if (step_vector_is_on(&mask, i, bytes) &&
		    !touch(effects, address + i * bytes, operand->element_size, operand->actions))
			return false;
	return true;
}

/* A gather of AVX2: its third operand is the mask. */
static bool touch_gathered(const struct decoded *self, const ZydisDecodedOperand *operand,
			   unsigned index_bytes, struct step_effects *effects)
{
	const ZydisDecodedOperand *last = &self->operands[2];
	unsigned bytes = operand->element_size / 8, n_indexes, n;
	struct step_vector mask, indexes;
	uint64_t base, address;

	if (last->type != ZYDIS_OPERAND_TYPE_REGISTER || bytes == 0 ||
	    !step_vector_read(self->context, last->reg.value, &mask) ||
	    !step_vector_read(self->context, operand->mem.index, &indexes) ||
	    !plain_address(self, operand, &base))
		return false;
	n_indexes = indexes.n_bytes / index_bytes;
	n = self->operands[0].size / operand->element_size;
	for (unsigned i = 0; i < n && i < n_indexes; i++) {
		if (!step_vector_is_on(&mask, i, bytes))
			continue;
		address =
		    narrow(self, base + (uint64_t)step_vector_index(&indexes, i, index_bytes) *
					    operand->mem.scale);
		if (!add_segment(operand, &address) ||
		    !touch(effects, address, operand->element_size, operand->actions))
			return false;
	}
	return true;
}

static bool is_linkage(const struct decoded *self, const ZydisDecodedOperand *operand)
{
	bool is_branch = self->instruction.meta.category == ZYDIS_CATEGORY_CALL ||
			 self->instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR;

	return (operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
		operand->mem.segment == ZYDIS_REGISTER_SS) ||
	       (is_branch && operand->mem.base == ZYDIS_REGISTER_RIP);
}

static bool touch_plain(const struct decoded *self, const ZydisDecodedOperand *operand,
			struct step_effects *effects)
{
	uint64_t address;
	uint32_t n = effects->n;

	if (operand->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
	    !operand_address(self, operand, &address) ||
	    !touch(effects, address, operand->size, operand->actions))
		return false;
	if (effects->n > n)
		effects->touched[n].is_linkage = is_linkage(self, operand);
	return true;
}

static bool touch_operand(const struct decoded *self, const ZydisDecodedOperand *operand,
			  struct step_effects *effects)
{
	switch (self->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ:
		return touch_masked(self, operand, effects);
	case ZYDIS_MNEMONIC_VPGATHERDD:
	case ZYDIS_MNEMONIC_VPGATHERDQ:
	case ZYDIS_MNEMONIC_VGATHERDPS:
	case ZYDIS_MNEMONIC_VGATHERDPD:
		return touch_gathered(self, operand, 4, effects);
	case ZYDIS_MNEMONIC_VPGATHERQD:
	case ZYDIS_MNEMONIC_VPGATHERQQ:
	case ZYDIS_MNEMONIC_VGATHERQPS:
	case ZYDIS_MNEMONIC_VGATHERQPD:
		return touch_gathered(self, operand, 8, effects);
	default:
		return touch_plain(self, operand, effects);
	}
}

/* --- instructions ----------------------------------------------------------------------------- */

/* It has an operand in memory, and touches none. */
static bool touches_nothing(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_PREFETCHWT1:
	case ZYDIS_CATEGORY_CLFLUSHOPT:
	case ZYDIS_CATEGORY_CLWB:
	case ZYDIS_CATEGORY_CLDEMOTE:
		return true;
	default:
		return instruction->mnemonic == ZYDIS_MNEMONIC_CLFLUSH ||
		       instruction->mnemonic == ZYDIS_MNEMONIC_LEA;
	}
}

static bool is_string(const ZydisDecodedInstruction *instruction)
{
	return (instruction->attributes &
		(ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
}

static bool is_refused_mnemonic(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_ENTER:
	case ZYDIS_MNEMONIC_MASKMOVQ:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVDQU:
	case ZYDIS_MNEMONIC_FXSAVE:
	case ZYDIS_MNEMONIC_FXSAVE64:
	case ZYDIS_MNEMONIC_FXRSTOR:
	case ZYDIS_MNEMONIC_FXRSTOR64:
	case ZYDIS_MNEMONIC_MOVDIR64B:
	case ZYDIS_MNEMONIC_CLZERO:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_WRPKRU:
		return true;
	default:
		return false;
	}
}

/* Its effects are not computed here, or it is not the stepper's business. */
static bool is_refused(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_AMX_TILE:
	case ZYDIS_CATEGORY_CET:
		return instruction->mnemonic != ZYDIS_MNEMONIC_ENDBR64 &&
		       instruction->mnemonic != ZYDIS_MNEMONIC_RDSSPQ &&
		       instruction->mnemonic != ZYDIS_MNEMONIC_RDSSPD;
	case ZYDIS_CATEGORY_COMPRESS:
	case ZYDIS_CATEGORY_EXPAND:
	case ZYDIS_CATEGORY_ENQCMD:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_IO:
	case ZYDIS_CATEGORY_IOSTRINGOP:
	case ZYDIS_CATEGORY_RDWRFSGS:
	case ZYDIS_CATEGORY_SEGOP:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_VTX:
	case ZYDIS_CATEGORY_WAITPKG:
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT:
		return instruction->mnemonic != ZYDIS_MNEMONIC_RDTSC &&
		       instruction->mnemonic != ZYDIS_MNEMONIC_RDTSCP &&
		       instruction->mnemonic != ZYDIS_MNEMONIC_XGETBV;
	default:
		return is_refused_mnemonic(instruction->mnemonic) ||
		       instruction->meta.isa_set == ZYDIS_ISA_SET_RTM ||
		       instruction->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ||
		       (instruction->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) != 0;
	}
}

/* Segment registers are refused: the next instruction may not be trapped. */
static bool writes_segment(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       operand->reg.value >= ZYDIS_REGISTER_ES && operand->reg.value <= ZYDIS_REGISTER_GS &&
	       (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}

/* Reads an operand that is no memory. */
static bool operand_value(const struct decoded *self, const ZydisDecodedOperand *operand,
			  uint64_t *ret)
{
	if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		*ret = operand->imm.value.u;
		return true;
	}
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       register_value(self->context, operand->reg.value, ret);
}

/* The stack pointer gets another value than by push and pop. Returns false if it is not known. */
static bool move_stack(const struct decoded *self, struct step_effects *effects)
{
	uint64_t now = (uint64_t)self->context->uc_mcontext.gregs[REG_RSP], value;

	effects->moves_stack = true;
	if (self->instruction.mnemonic == ZYDIS_MNEMONIC_LEAVE) {
		effects->stack = (uint64_t)self->context->uc_mcontext.gregs[REG_RBP] + 8;
		return true;
	}
	if (self->instruction.mnemonic == ZYDIS_MNEMONIC_LEA)
		return plain_address(self, &self->operands[1], &effects->stack);
	if (self->operands[0].reg.value != ZYDIS_REGISTER_RSP ||
	    !operand_value(self, &self->operands[1], &value))
		return false;
	switch (self->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		effects->stack = value;
		return true;
	case ZYDIS_MNEMONIC_ADD:
		effects->stack = now + value;
		return true;
	case ZYDIS_MNEMONIC_SUB:
		effects->stack = now - value;
		return true;
	case ZYDIS_MNEMONIC_AND:
		effects->stack = now & value;
		return true;
	default:
		return false;
	}
}

static bool moves_stack(const struct decoded *self)
{
	const ZydisDecodedOperand *first = &self->operands[0];

	if (self->instruction.mnemonic == ZYDIS_MNEMONIC_LEAVE)
		return true;
	for (unsigned i = 0; i < self->instruction.operand_count_visible; i++, first++)
		if (first->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    is_stack_pointer(first->reg.value) &&
		    (first->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0)
			return true;
	return false;
}

static bool has_mask(const struct decoded *self)
{
	for (unsigned i = 0; i < self->instruction.operand_count_visible; i++)
		if (self->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    self->operands[i].reg.value > ZYDIS_REGISTER_K0 &&
		    self->operands[i].reg.value <= ZYDIS_REGISTER_K7)
			return self->instruction.avx.mask.mode > ZYDIS_MASK_MODE_DISABLED;
	return false;
}

/* True if a string instruction has nothing left to do. */
static bool is_over(const struct decoded *self)
{
	uint64_t n = narrow(self, (uint64_t)self->context->uc_mcontext.gregs[REG_RCX]);

	return is_string(&self->instruction) && n == 0;
}

bool step_effects(const uint8_t *code, unsigned n, const ucontext_t *context,
		  struct step_effects *ret)
{
	struct decoded self;

	ret->n = 0;
	ret->moves_stack = ret->pushes_flags = ret->is_syscall = false;
	if (!ZYAN_SUCCESS(
		ZydisDecoderDecodeFull(&decoder, code, n, &self.instruction, self.operands)))
		return false;
	self.context = context;
	ret->length = self.instruction.length;
	ret->is_syscall = self.instruction.mnemonic == ZYDIS_MNEMONIC_SYSCALL;
	ret->pushes_flags = self.instruction.mnemonic == ZYDIS_MNEMONIC_PUSHFQ;
	if (ret->is_syscall || touches_nothing(&self.instruction))
		return !moves_stack(&self) || move_stack(&self, ret);
	if (is_refused(&self.instruction) || self.instruction.mnemonic == ZYDIS_MNEMONIC_PUSHF)
		return false;
	if (moves_stack(&self) && !move_stack(&self, ret))
		return false;
	for (unsigned i = 0; i < self.instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &self.operands[i];

		if (writes_segment(operand))
			return false;
		if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		if (has_mask(&self))
			return false;
		if (!is_over(&self) && !touch_operand(&self, operand, ret))
			return false;
	}
	return true;
}
