/* SPDX-License-Identifier: MIT */
/*
 * What DWARF says of the code at an address: file, line, and what was inlined there.
 *
 * libdw walks a unit's tree from its top for each address, and knows the units only by
 * .debug_aranges, which clang does not write.  Here the units are found by the ranges that they say
 * they have, and each that is asked for is walked once, for its functions.
 */
#ifndef PP_SYMBOLS_CODE_H
#define PP_SYMBOLS_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdwfl.h>
#include <glib.h>

struct pp_code;

/* The module stays the caller's, and has to stay. */
struct pp_code *pp_code_new(Dwfl_Module *module);
void pp_code_free(struct pp_code *code);

/* All text lives as long as the module. */
struct pp_code_frame {
	const char *function; /* as the linker knows it, or the source; NULL: not known */
	const char *file;     /* NULL: not known */
	int line;
};

/*
 * Of struct pp_code_frame: what was inlined at the address, innermost first, and last the place in
 * the function itself, without its name.  Empty: no lines are known.  The caller unrefs it.
 */
GArray *pp_code_frames(struct pp_code *code, uint64_t address, const char **ret_compile_dir);

/* Whether all that was needed so far was in the module's own files. */
bool pp_code_is_whole(const struct pp_code *code);

#endif
