/* SPDX-License-Identifier: MIT */
/* The parts of a type by their offset (members, elements of arrays), from DWARF. */
#ifndef PP_SYMBOLS_TYPE_PARTS_H
#define PP_SYMBOLS_TYPE_PARTS_H

#include <stdbool.h>

#include <elfutils/libdw.h>
#include <glib.h>

/* A type, and the offset in bytes of what is looked for in it. */
struct pp_type_part {
	Dwarf_Die type;
	Dwarf_Word offset;
};

/* Replaces a DIE by its type, without qualifiers.  Returns false if it has none. */
bool pp_type_of(Dwarf_Die *die);

/*
 * Replaces the part by the innermost one that contains the offset, and appends its name: ".lock",
 * "[3].next", nothing if it has no parts.  Names of the C and C++ libraries' own members, such as
 * std::mutex::_M_mutex, are left out.
 */
void pp_type_enter(struct pp_type_part *part, GString *text);

#endif
