/* SPDX-License-Identifier: MIT */
/*
 * Names for addresses, from the objects' own symbol tables and DWARF.
 *
 * An object is opened once for the whole capture, by path and build-id, and asked for link-time
 * addresses; the load map of a process says which object was where.  When the file on disk is no
 * longer the one that ran, its names are not used: better no name than a wrong one.
 */
#ifndef PP_INPUT_SYMBOLS_H
#define PP_INPUT_SYMBOLS_H

#include "core/model.h"
#include "core/namer.h"

struct pp_symbols;

/* What is known of a code address. */
struct pp_place {
	const char *function; /* demangled; NULL: no symbol */
	uint64_t entry;	      /* run-time address of the function; 0: not known */
	const char *file;     /* NULL: no line information */
	int line;
	const char *object;	 /* base name of the file it is in; NULL: in no loaded object */
	uint64_t object_address; /* link-time address in it */
	const char *fault;	 /* why the object has no names; NULL: it has */
};

/* Problems with objects go to the model's list. */
struct pp_symbols *pp_symbols_new(struct pp_model *model);
void pp_symbols_free(struct pp_symbols *symbols);

/*
 * The place of a return address, that is of the call before it.  Strings live as long as `symbols`.
 */
void pp_symbols_place(struct pp_symbols *symbols, const struct pp_process *process,
		      uint64_t address, struct pp_place *ret);

/* For passes; valid as long as `symbols`. */
struct pp_namer pp_symbols_namer(struct pp_symbols *symbols);

#endif
