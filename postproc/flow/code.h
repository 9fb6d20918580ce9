/* SPDX-License-Identifier: MIT */
/*
 * The control flow of a critical section from its machine code.  Accesses and operations are known
 * by addresses behind the first byte of their instructions, as return addresses are.
 */
#ifndef PP_FLOW_CODE_H
#define PP_FLOW_CODE_H

#include "flow/graph.h"
#include "symbols/text_bytes.h"

struct pp_flow_code {
	struct pp_text_bytes text;
	uint64_t entry; /* behind the call that takes the lock */
	/* Sets of uint64_t *: behind the calls that release it; behind what stays; behind what was
	 * executed. */
	GHashTable *exits, *staying, *seen;
	bool frees; /* memory that other sections access: calls of code that is not known stay */
};

/*
 * Reads the flow.  An access in a function that the section calls makes all calls stay that may
 * lead to it.  Returns NULL, or the reason why the flow is not known; *ret_address: where.
 */
const char *pp_flow_read(struct pp_flow *flow, const struct pp_flow_code *code,
			 uint64_t *ret_address);

/*
 * The code that a call of the section leads to, directly or through other code: adds the addresses
 * of instructions that leave the text, or whose target is not known, to `outside`, and those of the
 * functions in the text that are called to `called` (sets of uint64_t *).
 */
void pp_flow_callees(const struct pp_flow_code *code, const struct pp_flow_node *node,
		     GHashTable *outside, GHashTable *called);

#endif
