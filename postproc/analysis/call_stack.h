/* SPDX-License-Identifier: MIT */
/*
 * The call stack of a thread, reconstructed from its call history.
 *
 * If returns are recorded, they end calls.  If they are not, a call ends when another function
 * makes the next call, since the caller of each call is known; a call left by longjmp() or an
 * exception ends in the same way.  A caller that is not on the stack (code without -pg) leaves the
 * stack unchanged; without returns, the last call of that caller ends, because otherwise it might
 * never end.
 */
#ifndef PP_ANALYSIS_CALL_STACK_H
#define PP_ANALYSIS_CALL_STACK_H

#include "core/event.h"
#include "core/namer.h"

/* Identified by process and entry address, or by name if the entry is not known. */
struct pp_function {
	uint64_t entry;
	char *name;
	bool is_part; /* a part (.cold) of a function that begins elsewhere */
	guint number; /* 0, 1, ... in order of appearance */
};

/* Functions shared by several stacks, each of which may be used by a thread of its own. */
struct pp_functions {
	const struct pp_namer *namer;
	GMutex *lock;		 /* protects all members */
	GPtrArray *all;		 /* of struct pp_function *, by number */
	GHashTable *by_identity; /* the same, by entry and name */
	GHashTable *by_process;	 /* of GHashTable *: address -> struct pp_function * */
};

/* lock: the model's lock. */
void pp_functions_init(struct pp_functions *functions, const struct pp_namer *namer, GMutex *lock);
void pp_functions_done(struct pp_functions *functions);

struct pp_call {
	const struct pp_function *function, *caller;
	uint64_t self; /* an address in the function */
	int64_t start_ns;
	bool is_outermost;	/* of the calls of its function on the stack */
	guint outermost_before; /* the next such call further out, plus 1; 0: none */
	/* For use by the stack's owner.  Initially start_ns and 0. */
	int64_t counted_ns, own_ns;
};

struct pp_call_stack {
	struct pp_functions *functions;
	bool has_returns;      /* returns are recorded */
	bool links_outermost;  /* maintain is_outermost and outermost_before of struct pp_call */
	struct pp_call *calls; /* outermost first */
	guint n, n_max;
	/* The last caller that was looked up; the next call to be pushed is usually made by it. */
	uint64_t from;
	const struct pp_function *caller;
	struct pp_function_seen {
		const struct pp_process *process;
		uint64_t address;
		const struct pp_function *function;
	} * seen; /* a cache, indexed by the low bits of the address */
};

void pp_call_stack_init(struct pp_call_stack *stack, struct pp_functions *functions,
			bool has_returns);
void pp_call_stack_done(struct pp_call_stack *stack);

static inline struct pp_call *pp_call_at(const struct pp_call_stack *stack, guint depth)
{
	return &stack->calls[depth];
}

/* The number of calls on the stack that are still active when `call` is made. */
guint pp_call_stack_callers(struct pp_call_stack *stack, const struct pp_event *call);

/* The position of the call that the event returns from, plus 1; 0: it is not on the stack. */
guint pp_call_stack_returning(const struct pp_call_stack *stack, const struct pp_event *event);

/*
 * The position of the innermost call of the function that contains the address, plus 1; 0: it is
 * not on the stack.
 */
guint pp_call_stack_holding(const struct pp_call_stack *stack, const struct pp_process *process,
			    uint64_t address);

/* Ends the calls from that depth on. */
static inline void pp_call_stack_cut(struct pp_call_stack *stack, guint depth)
{
	stack->n = depth;
}

/*
 * self, from: an address in the called function, and the return address in the caller (0: not
 * known).
 */
void pp_call_stack_push(struct pp_call_stack *stack, const struct pp_process *process,
			uint64_t self, uint64_t from, int64_t now_ns);

#endif
