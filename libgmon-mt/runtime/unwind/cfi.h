/* SPDX-License-Identifier: MIT */
/* How the registers of a caller are found from those of the function that it called. */
#ifndef GM_RUNTIME_UNWIND_CFI_H
#define GM_RUNTIME_UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/unwind/table.h"
#include "runtime/unwind/unwind.h"

enum gm_saved_how {
	GM_SAME,	  /* unchanged; GM_RSP: the CFA */
	GM_UNDEFINED,	  /* not known; GM_RIP: there is no caller */
	GM_AT_CFA,	  /* in memory at the CFA + offset */
	GM_IS_CFA,	  /* the CFA + offset */
	GM_IN_REGISTER,	  /* in register number `offset` */
	GM_AT_EXPRESSION, /* in memory at the expression's value; the expression is at `offset` */
	GM_IS_EXPRESSION,
};

struct gm_saved {
	uint8_t how;
	int32_t offset; /* of expressions: from the start of the tables' memory */
};

/* The rules that hold at one instruction: a row of the table that CFI encodes. */
struct gm_row {
	uint8_t cfa_register;
	bool cfa_is_expression; /* at cfa_offset */
	bool is_signal;		/* the frame that the kernel makes for a handler */
	int64_t cfa_offset;
	struct gm_saved saved[GM_N_REGISTERS];
};

/*
 * Reads the rules at the instruction that contains `address`. Returns false and the reason if there
 * are none: GM_END_NO_TABLE, GM_END_BAD_TABLE.
 */
bool gm_cfi_read(const struct gm_tables *tables, uint64_t address, struct gm_row *ret,
		 enum gm_unwind_end *ret_why);

/*
 * Finds the code that the tables describe together with `address`: a function, or its part for
 * unlikely cases. Returns false if they describe none there.
 */
bool gm_cfi_function(const struct gm_tables *tables, uint64_t address, uint64_t *ret_start,
		     uint64_t *ret_end);

#endif
