/* SPDX-License-Identifier: MIT */
/* The sorted symbols of an object: libdwfl would search them linearly for each address. */
#ifndef PP_SYMBOLS_SYMBOL_TABLE_H
#define PP_SYMBOLS_SYMBOL_TABLE_H

#include <elfutils/libdwfl.h>

#include "symbols/cached_names.h"

struct pp_symbol_table;

/* The module still belongs to the caller, and must outlive the result. */
struct pp_symbol_table *pp_symbol_table_new(Dwfl_Module *module);
void pp_symbol_table_free(struct pp_symbol_table *table);

/*
 * The symbol that contains the address.  Its name is valid as long as the module, and is NULL if
 * there is no symbol.
 */
struct pp_symbol pp_symbol_table_find(const struct pp_symbol_table *table, enum pp_symbol_kind kind,
				      uint64_t address);

/* The start of the function whose name is the first n bytes of `name`; 0: there is none. */
uint64_t pp_symbol_table_start(const struct pp_symbol_table *table, const char *name, size_t n);

#endif
