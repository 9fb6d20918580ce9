/* SPDX-License-Identifier: MIT */
/*
 * See frame.h.  Blocks and inlined functions that do not contain the instruction are left out,
 * since their variables may have been in the same place before.
 */
#include "symbols/frame.h"

#include <dwarf.h>
#include <stdlib.h>

#include "symbols/type_parts.h"

/* No compiler nests deeper; damaged data may contain cycles. */
#define MAX_DEPTH 64

/* One of the two is looked for. */
struct search {
	const struct pp_frame_code *code;
	Dwarf_Addr pc;
	bool is_register;
	int number;
	int64_t slot;
	void (*in_register)(void *data, const Dwarf_Die *type);
	void (*on_stack)(void *data, const Dwarf_Die *type, uint64_t offset);
	void *data;
};

/* --- the canonical frame address -------------------------------------------------------------- */

/* CFA = register + offset. */
static bool find_cfa(const struct pp_frame_code *code, Dwarf_Addr pc, int *ret_number,
		     int64_t *ret_offset)
{
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	size_t n;
	bool is_known;

	if (!code->cfi || dwarf_cfi_addrframe(code->cfi, pc - code->cfi_bias, &frame) != 0)
		return false;
	is_known = dwarf_frame_cfa(frame, &ops, &n) == 0 && n == 1 && ops[0].atom == DW_OP_bregx;
	if (is_known) {
		*ret_number = (int)ops[0].number;
		*ret_offset = (int64_t)ops[0].number2;
	}
	free(frame);
	return is_known;
}

bool pp_frame_slot(const struct pp_frame_code *code, Dwarf_Addr pc, int number, int64_t offset,
		   int64_t *ret_slot)
{
	int cfa_number;
	int64_t cfa_offset;

	if (!find_cfa(code, pc, &cfa_number, &cfa_offset) || cfa_number != number)
		return false;
	*ret_slot = offset - cfa_offset;
	return true;
}

/* The slot of a location relative to the function's frame base. */
static bool frame_base_slot(const struct search *search, int64_t offset, int64_t *ret_slot)
{
	Dwarf_Die function = search->code->function;
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_getlocation_addr(dwarf_attr_integrate(&function, DW_AT_frame_base, &attribute),
				   search->pc, &ops, &n, 1) != 1 ||
	    n != 1)
		return false;
	if (ops[0].atom == DW_OP_call_frame_cfa) {
		*ret_slot = offset;
		return true;
	}
	return ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31 &&
	       pp_frame_slot(search->code, search->pc, ops[0].atom - DW_OP_reg0, offset, ret_slot);
}

/* --- variables -------------------------------------------------------------------------------- */

static void look_at_stack(const struct search *search, const Dwarf_Op *op, const Dwarf_Die *type)
{
	Dwarf_Die sized = *type;
	Dwarf_Word n_bytes;
	int64_t slot;
	bool is_known = false;

	if (op->atom == DW_OP_fbreg)
		is_known = frame_base_slot(search, (int64_t)op->number, &slot);
	else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		is_known = pp_frame_slot(search->code, search->pc, op->atom - DW_OP_breg0,
					 (int64_t)op->number, &slot);
	if (is_known && dwarf_aggregate_size(&sized, &n_bytes) == 0 && search->slot >= slot &&
	    (uint64_t)(search->slot - slot) < n_bytes)
		search->on_stack(search->data, type, (uint64_t)(search->slot - slot));
}

static void look_at(const struct search *search, Dwarf_Die *variable)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type = *variable;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_getlocation_addr(dwarf_attr(variable, DW_AT_location, &attribute), search->pc,
				   &ops, &n, 1) != 1 ||
	    n != 1 || !pp_type_of(&type))
		return;
	if (!search->is_register)
		look_at_stack(search, &ops[0], &type);
	else if (ops[0].atom == DW_OP_reg0 + search->number)
		search->in_register(search->data, &type);
}

static void walk(const struct search *search, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;
	int more = depth < MAX_DEPTH ? dwarf_child(parent, &die) : 1;

	for (; more == 0; more = dwarf_siblingof(&die, &die)) {
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
		case DW_TAG_formal_parameter:
			look_at(search, &die);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
			if (dwarf_haspc(&die, search->pc) > 0)
				walk(search, &die, depth + 1);
			break;
		default:
			break;
		}
	}
}

void pp_frame_register(const struct pp_frame_code *code, Dwarf_Addr pc, int number,
		       void (*found)(void *data, const Dwarf_Die *type), void *data)
{
	const struct search search = {
	    .code = code,
	    .pc = pc,
	    .is_register = true,
	    .number = number,
	    .in_register = found,
	    .data = data,
	};
	Dwarf_Die function = code->function;

	walk(&search, &function, 0);
}

void pp_frame_stack(const struct pp_frame_code *code, Dwarf_Addr pc, int64_t slot,
		    void (*found)(void *data, const Dwarf_Die *type, uint64_t offset), void *data)
{
	const struct search search = {
	    .code = code, .pc = pc, .slot = slot, .on_stack = found, .data = data};
	Dwarf_Die function = code->function;

	walk(&search, &function, 0);
}
