/* SPDX-License-Identifier: MIT */
/* Searches the functions of an object for names that a user wrote. */
#ifndef PP_SYMBOLS_FUNCTION_SEARCH_H
#define PP_SYMBOLS_FUNCTION_SEARCH_H

#include <stdbool.h>

#include <elfutils/libdwfl.h>

/*
 * `list`: "a,b"; see sync-trace/named.h.  Sets found[i] if the module has a function with the name
 * at position i, by its symbols, or by DWARF if it is only inlined.  Leaves others unchanged.
 */
void pp_function_search(Dwfl_Module *module, const char *list, bool *found, unsigned n_names);

#endif
