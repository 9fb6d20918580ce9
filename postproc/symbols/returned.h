/* SPDX-License-Identifier: MIT */
/*
 * Follows the pointer that a call returned through the code behind the call, and finds the types to
 * which the program's variables say it points.
 */
#ifndef PP_SYMBOLS_RETURNED_H
#define PP_SYMBOLS_RETURNED_H

#include "symbols/frame.h"

/* All addresses are those of the DWARF data. */
struct pp_returned {
	struct pp_frame_code code;
	/* Bytes of the code: those of its section. */
	const uint8_t *bytes;
	Dwarf_Addr bytes_start;
	size_t n_bytes;
	void *data;
	/* The type of the global variable that contains the address, and the offset in it. */
	bool (*variable)(void *data, Dwarf_Addr address, Dwarf_Die *ret_type, uint64_t *ret_offset);
	/* The function that begins at the address. */
	bool (*function)(void *data, Dwarf_Addr address, Dwarf_Die *ret_function);
	/* The pointer points to this type; may be called several times with the same one. */
	void (*found)(void *data, const Dwarf_Die *type);
};

/* The call returns to `pc`. */
void pp_returned_follow(const struct pp_returned *returned, Dwarf_Addr pc);

/* The type to which a pointer or reference points.  Returns false if it is none, or void *. */
bool pp_pointee_of(const Dwarf_Die *pointer, Dwarf_Die *ret_type);

#endif
