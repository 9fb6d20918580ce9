/* SPDX-License-Identifier: MIT */
/* The names of functions of other objects that machine code of x86-64 calls. */
#ifndef PP_SYMBOLS_IMPORTS_H
#define PP_SYMBOLS_IMPORTS_H

#include <stdint.h>

#include <elfutils/libdwfl.h>

/*
 * The name of the function that the call or the jump at the link-time address leads to, if it is of
 * another object: through a pointer that the dynamic linker sets, directly or in a stub of the
 * procedure linkage table.  NULL: it is not, or not known.  The caller frees it.
 */
char *pp_import_of_call(Dwfl_Module *module, uint64_t linked);

#endif
