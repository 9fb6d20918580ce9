/* SPDX-License-Identifier: MIT */
/*
 * Unwind rules in 8 bytes, for the frames of compiled code: there the CFA and %rbp follow from %rsp
 * and %rbp alone, and the return address is the word below the CFA. They are cached by address.
 */
#ifndef GM_RUNTIME_UNWIND_RULE_H
#define GM_RUNTIME_UNWIND_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/unwind/table.h"

enum gm_rule_kind {
	GM_RULE_NONE, /* not known yet */
	GM_RULE_CFA,  /* the CFA is base + offset */
	GM_RULE_LOAD, /* the CFA is the word at base + offset, plus `added` */
	/* The kernel's frame for a signal handler: %rsp points to the interrupted registers. */
	GM_RULE_SIGNAL,
	GM_RULE_ALL_REGISTERS, /* all registers are needed: see gm_cfi_read() */
	GM_RULE_FRAME_POINTER, /* no table: the frame pointer, if it is one */
	GM_RULE_END,	       /* `why` */
	GM_RULE_NO_FRAME,      /* no return address; `why` the path ends before it */
};

enum gm_rbp { GM_RBP_SAME, GM_RBP_AT_CFA, GM_RBP_AT_RBP, GM_RBP_UNKNOWN };

struct gm_rule {
	uint16_t kind : 3;
	uint16_t base_is_rbp : 1;
	uint16_t rbp : 2;
	uint16_t why : 3;  /* in the last three kinds: enum gm_unwind_end */
	int16_t added : 7; /* in words */
	int16_t rbp_at;	   /* in words from the CFA, or from %rbp */
	int32_t offset;	   /* in bytes */
};
_Static_assert(sizeof(struct gm_rule) == 8, "half of a cache entry");

/*
 * `at`: an address in the frame's instruction, and whether that was interrupted: see gm_rule_at().
 * Returns the rule of the frame there, from the cache or from the tables.
 */
struct gm_rule gm_rule_find(uint64_t at);

/* The same from these tables, without the cache. */
struct gm_rule gm_rule_read(const struct gm_tables *in, uint64_t at);

/* For a return address the instruction is the call before it. */
#define GM_RULE_INTERRUPTED ((uint64_t)1 << 63)
static inline uint64_t gm_rule_at(uint64_t ip, bool interrupted)
{
	return interrupted ? ip | GM_RULE_INTERRUPTED : ip - 1;
}

static inline uint64_t gm_rule_address(uint64_t at)
{
	return at & ~GM_RULE_INTERRUPTED;
}

/*
 * Returns true if a call instruction ends at that address, in a loaded object. The address may be
 * stale: its object may be unloaded at this instant.
 */
bool gm_follows_call(uint64_t address);

#endif
