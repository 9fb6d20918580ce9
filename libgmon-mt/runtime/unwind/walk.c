/* SPDX-License-Identifier: MIT */
/*
 * Walks a stack (unwind.h).
 *
 * The quick walk has %rip, %rsp and %rbp, and takes each frame's rule from the cache. If a frame
 * needs another register (hand-written assembly keeps its CFA in any), the walk starts again and
 * computes all registers of each frame, without the cache. The CFA of a caller is always above that
 * of its callee, except across the frame of a signal handler, which may be on a stack of its own.
 */
#include "runtime/unwind/unwind.h"

#include "runtime/process/loadmap.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/sys.h"
#include "runtime/unwind/cfi.h"
#include "runtime/unwind/expression.h"
#include "runtime/unwind/rule.h"

#define FRAME_POINTER_MAX_BYTES ((uint64_t)1 << 20) /* a larger distance is not a frame */
#define LOWEST_CODE		4096u

/*
 * The kernel's frame for a signal handler, from the %rsp of the restorer: struct ucontext, with
 * struct sigcontext at byte 40 (arch/x86/include/uapi/asm/sigcontext.h, asm-generic/ucontext.h).
 */
#define SIGNAL_REGISTERS 40u
enum { SIGNAL_RBP = 10, SIGNAL_RSP = 15, SIGNAL_RIP = 16 }; /* in words */

/* The words of struct sigcontext, by DWARF's number of the register. */
static const uint8_t signal_words[GM_N_REGISTERS] = {13, 12, 14, 11, 9, 8, 10, 15, 0,
						     1,	 2,  3,	 4,  5, 6, 7,  16};

struct walk {
	struct gm_stack *own;
	struct gm_stack known; /* of the stack that the walk is on */
	bool is_own;
	enum gm_unwind_end end;
};

struct quick {
	uint64_t ip, sp, bp;
	bool interrupted, knows_bp;
};

/* STEP_NO_FRAME: also that the last address is no return address. */
enum step { STEP_GO_ON, STEP_STOP, STEP_NO_FRAME, STEP_ALL_REGISTERS };

/* --- the stack ---------------------------------------------------------------------------------
 */

/*
 * Keeps what the walk learned of the thread's own stack. Not if the path is incomplete: then the
 * last addresses may have been none of the stack.
 */
static void keep_stack(struct walk *walk)
{
	if (walk->is_own && (walk->end == GM_END_OUTERMOST || walk->end == GM_END_DEPTH))
		*walk->own = walk->known;
}

static bool enter_stack(struct walk *walk, uint64_t sp)
{
	if (!gm_stack_find(walk->own, sp, &walk->known)) {
		walk->is_own = false;
		return false;
	}
	walk->is_own = walk->known.start == walk->own->start;
	return true;
}

static enum step stop(struct walk *walk, enum gm_unwind_end why)
{
	walk->end = why;
	return STEP_STOP;
}

static enum step stop_before(struct walk *walk, enum gm_unwind_end why)
{
	walk->end = why;
	return STEP_NO_FRAME;
}

/*
 * Addresses with the first bit are the kernel's; it also marks interrupted ones (rule.h). Words of
 * the stack that look like a call are found now and then.
 */
static inline bool may_be_code(const struct walk *walk, uint64_t ip)
{
	return ip >= LOWEST_CODE && (ip & GM_RULE_INTERRUPTED) == 0 &&
	       ip - walk->known.start >= walk->known.end - walk->known.start;
}

/* A stack begins with 0 in place of a return address; other numbers are wrong. */
static enum step stop_at_no_code(struct walk *walk, uint64_t number)
{
	return stop(walk, number == 0 ? GM_END_OUTERMOST : GM_END_BAD_TABLE);
}

/* The length of a path to which the last of `n` addresses does not belong. */
static unsigned without_last(unsigned n)
{
	return n > 1 ? n - 1 : n;
}

/* --- three registers ---------------------------------------------------------------------------
 */

/*
 * Reads the two words of what may be a frame. If it is none, another thread may unmap it meanwhile,
 * so the kernel reads it. Nothing that the walk finds from there on is kept for later ones.
 */
static bool read_frame(struct walk *walk, uint64_t bp, uint64_t frame[2])
{
	const uint64_t n_bytes = 2 * sizeof(frame[0]);
	/* Earlier walks may have found the stack of a coroutine, which is partly unmapped. */
	bool is_known = !walk->is_own && bp >= walk->known.start && bp <= walk->known.end - n_bytes;

	walk->is_own = false;
	if (is_known) {
		memcpy(frame, (const void *)bp, n_bytes);
		return true;
	}
	if (!gm_memory_read(frame, bp, n_bytes))
		return false;
	walk->known = gm_stack_around(bp);
	return true;
}

/* Code without tables may use %rbp for anything, so what it leads to is checked. */
static enum step by_frame_pointer(struct walk *walk, struct quick *now, enum gm_unwind_end why)
{
	uint64_t frame[2];

	if (!now->knows_bp || now->bp < now->sp || now->bp - now->sp > FRAME_POINTER_MAX_BYTES ||
	    now->bp % 8 != 0 || !read_frame(walk, now->bp, frame) || !may_be_code(walk, frame[1]) ||
	    !gm_follows_call(frame[1]))
		return stop(walk, why);
	*now = (struct quick){frame[1], now->bp + 16, frame[0], false, true};
	return STEP_GO_ON;
}

static enum step from_signal(struct walk *walk, struct quick *now)
{
	uint64_t registers = now->sp + SIGNAL_REGISTERS;
	struct quick before = {.interrupted = true, .knows_bp = true};

	if (!gm_stack_read(&walk->known, registers + 8 * SIGNAL_RIP, &before.ip) ||
	    !gm_stack_read(&walk->known, registers + 8 * SIGNAL_RSP, &before.sp) ||
	    !gm_stack_read(&walk->known, registers + 8 * SIGNAL_RBP, &before.bp) ||
	    !enter_stack(walk, before.sp))
		return stop(walk, GM_END_STACK);
	*now = before;
	return STEP_GO_ON;
}

static bool rbp_of_caller(struct walk *walk, struct quick *now, struct gm_rule rule, uint64_t cfa)
{
	switch (rule.rbp) {
	case GM_RBP_AT_CFA:
		now->knows_bp = true;
		return gm_stack_read(&walk->known, cfa + 8 * (uint64_t)(int64_t)rule.rbp_at,
				     &now->bp);
	case GM_RBP_AT_RBP:
		return gm_stack_read(&walk->known, now->bp + 8 * (uint64_t)(int64_t)rule.rbp_at,
				     &now->bp);
	case GM_RBP_UNKNOWN:
		now->knows_bp = false;
	}
	return true;
}

static inline enum step by_rule(struct walk *walk, struct quick *now, struct gm_rule rule)
{
	uint64_t cfa = rule.base_is_rbp ? now->bp : now->sp, ip;

	if (rule.kind > GM_RULE_LOAD) {
		if (rule.kind == GM_RULE_SIGNAL)
			return from_signal(walk, now);
		if (rule.kind == GM_RULE_FRAME_POINTER)
			return by_frame_pointer(walk, now, rule.why);
		if (rule.kind == GM_RULE_NO_FRAME)
			return stop_before(walk, rule.why);
		return rule.kind == GM_RULE_END ? stop(walk, rule.why) : STEP_ALL_REGISTERS;
	}
	if (!now->knows_bp && (rule.base_is_rbp || rule.rbp == GM_RBP_AT_RBP))
		return stop(walk, GM_END_BAD_TABLE);
	cfa += (uint64_t)(int64_t)rule.offset;
	if (rule.kind == GM_RULE_LOAD) {
		if (!gm_stack_read(&walk->known, cfa, &cfa))
			return stop(walk, GM_END_STACK);
		cfa += 8 * (uint64_t)(int64_t)rule.added;
	}
	if (cfa <= now->sp || cfa % 8 != 0)
		return stop(walk, GM_END_BAD_TABLE);
	if (!gm_stack_read(&walk->known, cfa - 8, &ip) || !rbp_of_caller(walk, now, rule, cfa))
		return stop(walk, GM_END_STACK);
	now->ip = ip;
	now->sp = cfa;
	now->interrupted = false;
	return may_be_code(walk, ip) ? STEP_GO_ON : stop_at_no_code(walk, ip);
}

/* Returns the number of addresses; *ret_step: STEP_ALL_REGISTERS if that is not all. */
static unsigned walk_quickly(struct walk *walk, const struct gm_registers *start,
			     uint64_t *addresses, unsigned max, enum step *ret_step)
{
	struct quick now = {start->value[GM_RIP], start->value[GM_RSP], start->value[GM_RBP],
			    start->interrupted, (start->known >> GM_RBP & 1) != 0};
	unsigned n = 0;

	for (;;) {
		uint64_t at = gm_rule_at(now.ip, now.interrupted);

		addresses[n++] = gm_rule_address(at) + 1;
		if (n == max) {
			*ret_step = stop(walk, GM_END_DEPTH);
			return n;
		}
		*ret_step = by_rule(walk, &now, gm_rule_find(at));
		if (*ret_step != STEP_GO_ON)
			return *ret_step == STEP_NO_FRAME ? without_last(n) : n;
	}
}

/* --- all registers -----------------------------------------------------------------------------
 */

static bool is_known(const struct gm_registers *registers, unsigned number)
{
	return (registers->known >> number & 1) != 0;
}

static void set(struct gm_registers *registers, unsigned number, uint64_t value)
{
	registers->value[number] = value;
	registers->known |= 1u << number;
}

/* Why a value could not be computed; GM_N_ENDS: it could. */
static enum gm_unwind_end value_of(struct walk *walk, const struct gm_registers *now, uint64_t cfa,
				   const struct gm_value *value, uint64_t *ret)
{
	uint64_t base = 0;

	if (value->base == GM_BASE_CFA)
		base = cfa;
	else if (value->base != GM_BASE_NONE) {
		if (!is_known(now, value->base))
			return GM_END_EXPRESSION;
		base = now->value[value->base];
	}
	*ret = base + (uint64_t)value->offset;
	if (!value->is_loaded)
		return GM_N_ENDS;
	if (!gm_stack_read(&walk->known, *ret, ret))
		return GM_END_STACK;
	*ret += (uint64_t)value->added;
	return GM_N_ENDS;
}

static bool read_expression(const struct gm_tables *in, int64_t position,
			    const struct gm_registers *now, bool with_cfa, struct gm_value *ret)
{
	return gm_expression_read(in, in->start + (uint64_t)position, now->value[GM_RIP], with_cfa,
				  ret);
}

static enum gm_unwind_end cfa_of(struct walk *walk, const struct gm_registers *now,
				 const struct gm_tables *in, const struct gm_row *row,
				 uint64_t *ret)
{
	struct gm_value value = {.base = row->cfa_register, .offset = row->cfa_offset};

	if (row->cfa_is_expression && !read_expression(in, row->cfa_offset, now, false, &value))
		return GM_END_EXPRESSION;
	return value_of(walk, now, 0, &value, ret);
}

/* Sets one register of the caller, if it can be known. */
static enum gm_unwind_end restore(struct walk *walk, const struct gm_registers *now,
				  const struct gm_tables *in, uint64_t cfa,
				  const struct gm_saved *saved, unsigned number,
				  struct gm_registers *caller)
{
	struct gm_value value = {.base = GM_BASE_CFA, .offset = saved->offset};
	enum gm_unwind_end why;
	uint64_t found;

	switch (saved->how) {
	case GM_SAME:
		if (number == GM_RSP)
			set(caller, number, cfa);
		else if (number != GM_RIP && is_known(now, number))
			set(caller, number, now->value[number]);
		return GM_N_ENDS;
	case GM_UNDEFINED:
		return GM_N_ENDS;
	case GM_IN_REGISTER:
		if (saved->offset >= 0 && saved->offset < GM_N_REGISTERS &&
		    is_known(now, (unsigned)saved->offset))
			set(caller, number, now->value[saved->offset]);
		return GM_N_ENDS;
	case GM_AT_EXPRESSION:
	case GM_IS_EXPRESSION:
		if (!read_expression(in, saved->offset, now, true, &value))
			return GM_END_EXPRESSION;
	}
	why = value_of(walk, now, cfa, &value, &found);
	if (why != GM_N_ENDS)
		return why;
	if ((saved->how == GM_AT_CFA || saved->how == GM_AT_EXPRESSION) &&
	    !gm_stack_read(&walk->known, found, &found))
		return GM_END_STACK;
	set(caller, number, found);
	return GM_N_ENDS;
}

/* All registers that a signal interrupted are in the kernel's frame. */
static enum step all_from_signal(struct walk *walk, struct gm_registers *now)
{
	struct gm_registers before = {.interrupted = true};

	for (unsigned i = 0; i < GM_N_REGISTERS; i++) {
		uint64_t at = now->value[GM_RSP] + SIGNAL_REGISTERS + 8 * (uint64_t)signal_words[i];

		if (!gm_stack_read(&walk->known, at, &before.value[i]))
			return stop(walk, GM_END_STACK);
		before.known |= 1u << i;
	}
	if (!enter_stack(walk, before.value[GM_RSP]))
		return stop(walk, GM_END_STACK);
	*now = before;
	return STEP_GO_ON;
}

static enum step by_row(struct walk *walk, struct gm_registers *now, const struct gm_tables *in,
			const struct gm_row *row)
{
	struct gm_registers caller = {.interrupted = false};
	uint64_t cfa;
	enum gm_unwind_end why;

	if (row->is_signal)
		return all_from_signal(walk, now);
	if (row->saved[GM_RIP].how == GM_UNDEFINED)
		return stop(walk, GM_END_OUTERMOST);
	why = cfa_of(walk, now, in, row, &cfa);
	for (unsigned i = 0; i < GM_N_REGISTERS && why == GM_N_ENDS; i++)
		why = restore(walk, now, in, cfa, &row->saved[i], i, &caller);
	if (why != GM_N_ENDS)
		return stop(walk, why);
	if (!is_known(&caller, GM_RIP) || !is_known(&caller, GM_RSP) ||
	    caller.value[GM_RSP] <= now->value[GM_RSP] || caller.value[GM_RSP] % 8 != 0)
		return stop(walk, GM_END_BAD_TABLE);
	*now = caller;
	return may_be_code(walk, now->value[GM_RIP]) ? STEP_GO_ON
						     : stop_at_no_code(walk, now->value[GM_RIP]);
}

/* Frames without a table are rare here; the path ends there. */
static enum step step_all(struct walk *walk, struct gm_registers *now)
{
	uint64_t at = gm_rule_at(now->value[GM_RIP], now->interrupted);
	struct gm_rule rule = gm_rule_find(at);
	enum gm_unwind_end why;
	struct gm_tables in;
	struct gm_row row;

	if (rule.kind == GM_RULE_NO_FRAME)
		return stop_before(walk, rule.why);
	if (rule.kind == GM_RULE_END || rule.kind == GM_RULE_FRAME_POINTER)
		return stop(walk, rule.why);
	if (!gm_tables_find(gm_rule_address(at), &in))
		return stop(walk, GM_END_NO_TABLE);
	if (!gm_cfi_read(&in, gm_rule_address(at), &row, &why))
		return stop(walk, why);
	return by_row(walk, now, &in, &row);
}

static __attribute__((noinline, cold)) unsigned
walk_fully(struct walk *walk, const struct gm_registers *start, uint64_t *addresses, unsigned max)
{
	struct gm_registers now = *start;
	enum step step;
	unsigned n = 0;

	do {
		addresses[n++] =
		    gm_rule_address(gm_rule_at(now.value[GM_RIP], now.interrupted)) + 1;
		if (n == max) {
			stop(walk, GM_END_DEPTH);
			return n;
		}
		step = step_all(walk, &now);
	} while (step == STEP_GO_ON);
	return step == STEP_NO_FRAME ? without_last(n) : n;
}

/* --- the whole ---------------------------------------------------------------------------------
 */

unsigned gm_unwind(const struct gm_registers *start, struct gm_stack *own, uint64_t *addresses,
		   unsigned max, enum gm_unwind_end *ret_end)
{
	struct walk walk = {.own = own, .end = GM_END_STACK};
	enum step step = STEP_STOP;
	unsigned n = 0;

	if (!enter_stack(&walk, start->value[GM_RSP])) {
		addresses[n++] =
		    gm_rule_address(gm_rule_at(start->value[GM_RIP], start->interrupted)) + 1;
	} else {
		n = walk_quickly(&walk, start, addresses, max, &step);
		if (step == STEP_ALL_REGISTERS && enter_stack(&walk, start->value[GM_RSP]))
			n = walk_fully(&walk, start, addresses, max);
		keep_stack(&walk);
	}
	*ret_end = walk.end;
	return n;
}
