/* SPDX-License-Identifier: MIT */
/* Recognizes inlined wrappers of one call, such as mutex_enter(), by DWARF. */
#ifndef PP_SYMBOLS_WRAPPER_H
#define PP_SYMBOLS_WRAPPER_H

#include <stdbool.h>

#include <elfutils/libdw.h>

/*
 * True if the call that returns to `return_address` is the only purpose of the inlined function: it
 * is short, and all its other calls are of the same function, or harmless.  `function` contains it.
 * False if the compiler did not note all calls, as without optimization.
 */
bool pp_inlined_is_wrapper(Dwarf_Die *function, Dwarf_Die *inlined, Dwarf_Addr return_address);

#endif
