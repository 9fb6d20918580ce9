/* SPDX-License-Identifier: MIT */
/*
 * Names for addresses, from the objects' own symbol tables and DWARF.
 *
 * An object is opened once for the whole capture, by path and build-id, and asked for link-time
 * addresses; the load map of a process says which object was where.  When the file on disk is no
 * longer the one that ran, its names are not used: better no name than a wrong one.
 */
#ifndef PP_SYMBOLS_SYMBOLS_H
#define PP_SYMBOLS_SYMBOLS_H

#include "core/model.h"
#include "core/namer.h"
#include "symbols/object_file.h"

struct pp_symbols;

/* Problems with objects go to the model's list. */
struct pp_symbols *pp_symbols_new(struct pp_model *model, const struct pp_symbols_options *options);
void pp_symbols_free(struct pp_symbols *symbols);

/* For passes; valid as long as `symbols`. */
struct pp_namer pp_symbols_namer(struct pp_symbols *symbols);

#endif
