/* SPDX-License-Identifier: MIT */
/* Names the parts of variables (members, elements of arrays) by the variables' types in DWARF. */
#ifndef PP_SYMBOLS_VARIABLES_H
#define PP_SYMBOLS_VARIABLES_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdwfl.h>

struct pp_variables;

/* The module still belongs to the caller, and must outlive the result. */
struct pp_variables *pp_variables_new(Dwfl_Module *module);
void pp_variables_free(struct pp_variables *variables);

/*
 * The innermost part at the offset of the variable that begins at the address: ".not_full",
 * "[3].lock", "" for the variable itself; and the rest of the offset within it.  Names of the C and
 * C++ libraries' own members, such as std::mutex::_M_mutex, are left out.  NULL if the type is not
 * known.  The caller frees it.
 */
char *pp_variables_part(struct pp_variables *variables, uint64_t start, uint64_t offset,
			uint64_t *ret_rest);

/* The type of the variable that begins at the address.  Returns false if it is not known. */
bool pp_variables_type(struct pp_variables *variables, uint64_t start, Dwarf_Die *ret_type);

/* True if all data needed so far was in the module's own files. */
bool pp_variables_are_whole(const struct pp_variables *variables);

#endif
