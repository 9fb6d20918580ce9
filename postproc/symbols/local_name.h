/* SPDX-License-Identifier: MIT */
/*
 * Names of C++ functions that only their unit can call.  Compilers note no linkage name for them,
 * so an inlined one would be `use`, beside `use(int)` where it has code and so a symbol.
 */
#ifndef PP_SYMBOLS_LOCAL_NAME_H
#define PP_SYMBOLS_LOCAL_NAME_H

#include <stdbool.h>

#include <elfutils/libdw.h>
#include <glib.h>

/* True for a function, or its declaration, without a linkage name though its language has such. */
bool pp_local_name_is_missing(Dwarf_Die *function);

/*
 * Adds the namespace or type to the scope, "4base", of what it contains.  Returns false if it has
 * no name.
 */
bool pp_local_name_add_scope(GString *scope, Dwarf_Die *die);

/*
 * The linkage name of the function with those parameters, in that scope.  NULL if it has template
 * arguments or a parameter whose type cannot be expressed; the caller frees it.
 *
 * classes: the names of types that were looked up before, for the same file; a table made by
 * pp_local_name_classes().
 */
char *pp_local_name(Dwarf_Die *function, const char *scope, GHashTable *classes);
GHashTable *pp_local_name_classes(void);

#endif
