/* SPDX-License-Identifier: MIT */
/*
 * DWARF expressions in unwind tables, reduced to a form that needs few bits: an address relative to
 * a register, or the word there plus a constant.
 */
#ifndef GM_RUNTIME_UNWIND_EXPRESSION_H
#define GM_RUNTIME_UNWIND_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/unwind/table.h"

#define GM_BASE_CFA  17
#define GM_BASE_NONE 18

/* base + offset; if `is_loaded`, the word at that address, plus `added`. */
struct gm_value {
	uint8_t base; /* a register's number, GM_BASE_CFA, or GM_BASE_NONE: 0 */
	bool is_loaded;
	int64_t offset, added;
};

/*
 * Reads the expression, a length and the operations, at `at`. `address` is the value of RIP. If
 * `with_cfa`, the CFA is on the stack at its begin. Returns false for expressions that have no such
 * form, and for those that are damaged.
 */
bool gm_expression_read(const struct gm_tables *tables, uint64_t at, uint64_t address,
			bool with_cfa, struct gm_value *ret);

#endif
