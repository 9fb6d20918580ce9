/* SPDX-License-Identifier: MIT */
/* The symbols of an object, sorted: libdwfl searches them from the first for each address. */
#ifndef PP_SYMBOLS_SYMBOL_TABLE_H
#define PP_SYMBOLS_SYMBOL_TABLE_H

#include <elfutils/libdwfl.h>

#include "symbols/cached_names.h"

struct pp_symbol_table;

/* The module stays the caller's, and has to stay. */
struct pp_symbol_table *pp_symbol_table_new(Dwfl_Module *module);
void pp_symbol_table_free(struct pp_symbol_table *table);

/* The one that holds the address; its name lives as long as the module, and is NULL for none. */
struct pp_symbol pp_symbol_table_find(const struct pp_symbol_table *table, enum pp_symbol_kind kind,
				      uint64_t address);

#endif
