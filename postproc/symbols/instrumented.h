/* SPDX-License-Identifier: MIT */
/* Finds code that was not compiled with -fsanitize=thread, as far as the file of a module tells. */
#ifndef PP_SYMBOLS_INSTRUMENTED_H
#define PP_SYMBOLS_INSTRUMENTED_H

#include <stdbool.h>

#include <elfutils/libdwfl.h>
#include <glib.h>

/* True if it calls or contains the functions that such code calls; false also if it has no code of
 * its own to compile. */
bool pp_module_is_instrumented(Dwfl_Module *module);

/*
 * Adds the names of source files that were compiled without it, if others were compiled with it.
 * Only gcc records its switches, in DWARF: files of other compilers, and those without debugging
 * information, are not known and not added.
 */
void pp_module_plain_units(Dwfl_Module *module, GPtrArray *names);

#endif
