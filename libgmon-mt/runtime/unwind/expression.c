/* SPDX-License-Identifier: MIT */
/*
 * Evaluates DWARF expressions (DWARF 5, section 2.5) without the values of registers. The values on
 * the stack have the form of struct gm_value; an operation whose result does not have it fails.
 * Constants may be combined in any way. The forms that compilers, libc and hand-written assembly
 * use all reduce: PLT entries to an offset, since their condition is on RIP; realigned stacks and
 * signal frames to a loaded word.
 */
#include "runtime/unwind/expression.h"

#include "runtime/unwind/unwind.h"

#define STACK_MAX      8
#define OPERATIONS_MAX 64

enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08, /* and 7 more: signed ones are odd, sizes double every two */
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_SWAP = 0x16,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_MUL = 0x1e,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_EQ = 0x29,
	OP_GE,
	OP_GT,
	OP_LE,
	OP_LT,
	OP_NE,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG15 = 0x7f,
	OP_BREG16 = 0x80,
	OP_NOP = 0x96,
};

struct stack {
	struct gm_value values[STACK_MAX];
	unsigned n;
	bool failed;
};

static void push(struct stack *stack, struct gm_value value)
{
	if (stack->n == STACK_MAX)
		stack->failed = true;
	else
		stack->values[stack->n++] = value;
}

static void push_constant(struct stack *stack, uint64_t value)
{
	push(stack, (struct gm_value){.base = GM_BASE_NONE, .offset = (int64_t)value});
}

static struct gm_value pop(struct stack *stack)
{
	if (stack->n == 0) {
		stack->failed = true;
		return (struct gm_value){.base = GM_BASE_NONE};
	}
	return stack->values[--stack->n];
}

static bool is_constant(const struct gm_value *value)
{
	return value->base == GM_BASE_NONE && !value->is_loaded;
}

static void add(struct stack *stack, struct gm_value value, int64_t constant)
{
	if (value.is_loaded)
		value.added = (int64_t)((uint64_t)value.added + (uint64_t)constant);
	else
		value.offset = (int64_t)((uint64_t)value.offset + (uint64_t)constant);
	push(stack, value);
}

static void load(struct stack *stack, struct gm_value value)
{
	stack->failed |= value.is_loaded;
	value.is_loaded = true;
	push(stack, value);
}

/* The result of a binary operation on constants. */
static uint64_t combined(struct stack *stack, uint8_t operation, int64_t a, int64_t b)
{
	uint64_t left = (uint64_t)a, right = (uint64_t)b;

	switch (operation) {
	case OP_AND:
		return left & right;
	case OP_OR:
		return left | right;
	case OP_XOR:
		return left ^ right;
	case OP_MUL:
		return left * right;
	case OP_SHL:
		return right < 64 ? left << right : 0;
	case OP_SHR:
		return right < 64 ? left >> right : 0;
	case OP_SHRA:
		right = right < 64 ? right : 63;
		return a < 0 ? ~(~left >> right) : left >> right;
	case OP_EQ:
		return a == b;
	case OP_NE:
		return a != b;
	case OP_GE:
		return a >= b;
	case OP_GT:
		return a > b;
	case OP_LE:
		return a <= b;
	case OP_LT:
		return a < b;
	}
	stack->failed = true;
	return 0;
}

static void combine(struct stack *stack, uint8_t operation)
{
	struct gm_value right = pop(stack), left = pop(stack);

	if (operation == OP_PLUS && is_constant(&right))
		add(stack, left, right.offset);
	else if (operation == OP_PLUS && is_constant(&left))
		add(stack, right, left.offset);
	else if (operation == OP_MINUS && is_constant(&right))
		add(stack, left, (int64_t)(0 - (uint64_t)right.offset));
	else if (is_constant(&left) && is_constant(&right))
		push_constant(stack, combined(stack, operation, left.offset, right.offset));
	else
		stack->failed = true;
}

static void push_sized(struct stack *stack, struct gm_cursor *cursor, uint8_t operation)
{
	unsigned n_bytes = 1u << (operation - OP_CONST1U) / 2;

	push_constant(stack, operation & 1 ? (uint64_t)gm_cursor_signed(cursor, n_bytes)
					   : gm_cursor_unsigned(cursor, n_bytes));
}

static void reorder(struct stack *stack, uint8_t operation)
{
	struct gm_value last = pop(stack), before;

	if (operation == OP_DROP)
		return;
	if (operation == OP_DUP) {
		push(stack, last);
		push(stack, last);
		return;
	}
	before = pop(stack);
	push(stack, last);
	push(stack, before);
}

static void evaluate(struct stack *stack, struct gm_cursor *cursor, uint64_t address)
{
	uint8_t operation = (uint8_t)gm_cursor_unsigned(cursor, 1);

	if (operation >= OP_LIT0 && operation <= OP_LIT31)
		push_constant(stack, operation - OP_LIT0);
	else if (operation >= OP_BREG0 && operation <= OP_BREG15)
		push(stack, (struct gm_value){.base = operation - OP_BREG0,
					      .offset = gm_cursor_sleb(cursor)});
	else if (operation == OP_BREG16)
		push_constant(stack, address + (uint64_t)gm_cursor_sleb(cursor));
	else if (operation >= OP_CONST1U && operation < OP_CONSTU)
		push_sized(stack, cursor, operation);
	else if (operation == OP_ADDR)
		push_constant(stack, gm_cursor_unsigned(cursor, 8));
	else if (operation == OP_CONSTU)
		push_constant(stack, gm_cursor_uleb(cursor));
	else if (operation == OP_CONSTS)
		push_constant(stack, (uint64_t)gm_cursor_sleb(cursor));
	else if (operation == OP_PLUS_UCONST)
		add(stack, pop(stack), (int64_t)gm_cursor_uleb(cursor));
	else if (operation == OP_DEREF)
		load(stack, pop(stack));
	else if (operation == OP_DUP || operation == OP_DROP || operation == OP_SWAP)
		reorder(stack, operation);
	else if (operation != OP_NOP)
		combine(stack, operation);
}

bool gm_expression_read(const struct gm_tables *tables, uint64_t at, uint64_t address,
			bool with_cfa, struct gm_value *ret)
{
	struct gm_cursor cursor = gm_cursor(tables, at, tables->end);
	uint64_t n_bytes = gm_cursor_uleb(&cursor);
	struct stack stack = {.n = 0};

	if (cursor.failed || n_bytes > tables->end - cursor.at)
		return false;
	cursor.end = cursor.at + n_bytes;
	if (with_cfa)
		push(&stack, (struct gm_value){.base = GM_BASE_CFA});
	for (unsigned i = 0; cursor.at < cursor.end; i++) {
		if (i == OPERATIONS_MAX || stack.failed || cursor.failed)
			return false;
		evaluate(&stack, &cursor, address);
	}
	*ret = pop(&stack);
	return !stack.failed && !cursor.failed;
}
