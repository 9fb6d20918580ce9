/* SPDX-License-Identifier: MIT */
/* The local variables of a function at one of its instructions: in registers, and on the stack. */
#ifndef PP_SYMBOLS_FRAME_H
#define PP_SYMBOLS_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdwfl.h>

/* All addresses are those of the DWARF data. */
struct pp_frame_code {
	Dwarf_Die function;
	Dwarf_CFI *cfi; /* NULL: the stack is not known */
	Dwarf_Addr cfi_bias;
};

/* Calls the function for each type of a variable that is as a whole in the register there. */
void pp_frame_register(const struct pp_frame_code *code, Dwarf_Addr pc, int number,
		       void (*found)(void *data, const Dwarf_Die *type), void *data);

/*
 * The distance of a place on the stack from the canonical frame address (CFA), if it is at that
 * offset from the register there.  Returns false if that is not known.
 */
bool pp_frame_slot(const struct pp_frame_code *code, Dwarf_Addr pc, int number, int64_t offset,
		   int64_t *ret_slot);

/*
 * Calls the function for each type of a variable that contains the slot there, with the slot's
 * offset in it.
 */
void pp_frame_stack(const struct pp_frame_code *code, Dwarf_Addr pc, int64_t slot,
		    void (*found)(void *data, const Dwarf_Die *type, uint64_t offset), void *data);

#endif
