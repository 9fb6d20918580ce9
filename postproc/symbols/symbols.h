/* SPDX-License-Identifier: MIT */
/*
 * Names for addresses, from the symbol tables and DWARF of object files.
 *
 * An object is opened once per capture, by path and build-id, and queried with link-time addresses.
 * The load map of a process determines the object.  If the file on disk is not the one that ran,
 * its names are not used, since they might be wrong.
 */
#ifndef PP_SYMBOLS_SYMBOLS_H
#define PP_SYMBOLS_SYMBOLS_H

#include "core/model.h"
#include "core/namer.h"
#include "symbols/object_file.h"

struct pp_symbols;

/* Problems with objects are added to the model's list. */
struct pp_symbols *pp_symbols_new(struct pp_model *model, const struct pp_symbols_options *options);
void pp_symbols_free(struct pp_symbols *symbols);

/*
 * The names in `[names] wrappers` that no function of the recorded processes has; they may be
 * mistyped.  The caller frees them; NULL: none.
 */
GStrv pp_symbols_unknown_wrappers(struct pp_symbols *symbols);

/*
 * The machine code around the call before a return address, at the addresses of the process.
 * Returns false if it is not known.
 */
bool pp_symbols_text(struct pp_symbols *symbols, const struct pp_process *process, uint64_t address,
		     struct pp_text_bytes *ret);

/*
 * The name of the function of another object to which the call or the jump at the address leads;
 * NULL: it is none, or not known.  The caller frees it.
 */
char *pp_symbols_import(struct pp_symbols *symbols, const struct pp_process *process,
			uint64_t address);

/* The namer for passes; valid as long as `symbols`. */
struct pp_namer pp_symbols_namer(struct pp_symbols *symbols);

#endif
