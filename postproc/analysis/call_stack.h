/* SPDX-License-Identifier: MIT */
/*
 * The stack of calls of a thread, from their history.
 *
 * Where returns are recorded they end calls.  Where not, a call ends at the next one that another
 * function made: the caller of each is known.  So does one that was left by longjmp() or an
 * exception.  A caller that is not on the stack (code without -pg) leaves the stack as it is; if
 * there are no returns, what it called last ends, since that could go on for ever.
 */
#ifndef PP_ANALYSIS_CALL_STACK_H
#define PP_ANALYSIS_CALL_STACK_H

#include "core/event.h"
#include "core/namer.h"

/* By where it begins, in its process; or by name where that is not known. */
struct pp_function {
	uint64_t entry;
	char *name;
	bool is_part; /* of one that begins elsewhere */
	guint number; /* 0, 1, ... in order of appearance */
};

/* Stacks that share them may be followed at the same time, each by one thread. */
struct pp_functions {
	const struct pp_namer *namer;
	GMutex *lock;		 /* of all of this */
	GPtrArray *all;		 /* of struct pp_function *, by number */
	GHashTable *by_identity; /* the same, by entry and name */
	GHashTable *by_process;	 /* of GHashTable *: address -> struct pp_function * */
};

/* lock: the model's. */
void pp_functions_init(struct pp_functions *functions, const struct pp_namer *namer, GMutex *lock);
void pp_functions_done(struct pp_functions *functions);

struct pp_call {
	const struct pp_function *function, *caller;
	uint64_t self; /* an address in it */
	int64_t start_ns;
	bool is_outermost;	/* of its function's on the stack */
	guint outermost_before; /* the next such call further out, plus 1; 0: none */
	/* For whoever owns the stack: at first start_ns, and 0. */
	int64_t counted_ns, own_ns;
};

struct pp_call_stack {
	struct pp_functions *functions;
	bool has_returns;      /* there are records of them */
	bool links_outermost;  /* the two of struct pp_call are wanted */
	struct pp_call *calls; /* the outermost first */
	guint n, n_max;
	/* The caller that was looked for last; the next call to be pushed is its. */
	uint64_t from;
	const struct pp_function *caller;
	struct pp_function_seen {
		const struct pp_process *process;
		uint64_t address;
		const struct pp_function *function;
	} * seen; /* by the address's low bits: most are asked for again and again */
};

void pp_call_stack_init(struct pp_call_stack *stack, struct pp_functions *functions,
			bool has_returns);
void pp_call_stack_done(struct pp_call_stack *stack);

static inline struct pp_call *pp_call_at(const struct pp_call_stack *stack, guint depth)
{
	return &stack->calls[depth];
}

/* How many of the calls go on while that one is made. */
guint pp_call_stack_callers(struct pp_call_stack *stack, const struct pp_event *call);

/* Which call it is the return of, plus 1; 0: none of the stack. */
guint pp_call_stack_returning(const struct pp_call_stack *stack, const struct pp_event *event);

/* The innermost call of the function that holds the address, plus 1; 0: it is not on the stack. */
guint pp_call_stack_holding(const struct pp_call_stack *stack, const struct pp_process *process,
			    uint64_t address);

/* The calls from that depth on are over. */
static inline void pp_call_stack_cut(struct pp_call_stack *stack, guint depth)
{
	stack->n = depth;
}

/* An address of the function, and of the caller. */
void pp_call_stack_push(struct pp_call_stack *stack, const struct pp_process *process,
			uint64_t self, uint64_t from, int64_t now_ns);

#endif
