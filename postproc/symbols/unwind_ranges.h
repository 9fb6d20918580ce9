/* SPDX-License-Identifier: MIT */
/* The bounds of functions without symbols, from the unwind tables that stripped objects keep. */
#ifndef PP_SYMBOLS_UNWIND_RANGES_H
#define PP_SYMBOLS_UNWIND_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdwfl.h>

struct pp_unwind_ranges;

/* Reads .eh_frame of the module, which still belongs to the caller. */
struct pp_unwind_ranges *pp_unwind_ranges_new(Dwfl_Module *module);
void pp_unwind_ranges_free(struct pp_unwind_ranges *ranges);

/* The start of the function that contains the address.  Returns false if it is unknown. */
bool pp_unwind_ranges_find(const struct pp_unwind_ranges *ranges, uint64_t address,
			   uint64_t *ret_start);

/* Calls `each` with each function's range [start, end), in the order of the file. */
void pp_unwind_ranges_each(const struct pp_unwind_ranges *ranges,
			   void (*each)(void *arg, uint64_t start, uint64_t end), void *arg);

#endif
