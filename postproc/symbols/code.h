/* SPDX-License-Identifier: MIT */
/*
 * Information from DWARF about the code at an address: file, line, and inlined functions.
 *
 * libdw walks a unit's tree from its root for each address, and finds units only through
 * .debug_aranges, which clang does not write.  This code finds units by the address ranges in their
 * DIEs, and walks each unit once, when it is needed.
 */
#ifndef PP_SYMBOLS_CODE_H
#define PP_SYMBOLS_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdwfl.h>
#include <glib.h>

struct pp_code;

/* The module still belongs to the caller, and must outlive the result. */
struct pp_code *pp_code_new(Dwfl_Module *module);
void pp_code_free(struct pp_code *code);

/* All texts are valid as long as the module and `code`. */
struct pp_code_frame {
	const char *function; /* linkage name, or the name in the source; NULL: not known */
	const char *file;     /* NULL: not known */
	int line;
	bool is_wrapper; /* of the call before the address: see symbols/wrapper.h */
};

/*
 * An array of struct pp_code_frame: the functions inlined at the address, innermost first, then the
 * position in the containing function, without its name.  Empty if there is no line information.
 * The caller unrefs it.
 */
GArray *pp_code_frames(struct pp_code *code, uint64_t address, const char **ret_compile_dir);

/*
 * The function that contains the address (not one that is inlined there), and the difference
 * between the address and that in the DWARF data.  Returns false if it is not known.
 */
bool pp_code_function(struct pp_code *code, uint64_t address, Dwarf_Die *ret_function,
		      Dwarf_Addr *ret_bias);

/* True if all data needed so far was in the module's own files. */
bool pp_code_is_whole(const struct pp_code *code);

#endif
