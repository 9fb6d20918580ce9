/* SPDX-License-Identifier: MIT */
/*
 * Stacks that are told apart, as a tree, each with a number: "folded" is one line for each,
 * `outermost;...;innermost NUMBER`.
 */
#ifndef PP_EXPORT_STACKS_H
#define PP_EXPORT_STACKS_H

#include "export/out.h"
#include "pass/pass.h"

struct pp_stack {
	struct pp_stack *parent; /* NULL: this is the root, no frame */
	const char *name;
	unsigned depth;
	uint64_t value;
};

struct pp_stacks;

struct pp_stacks *pp_stacks_new(void);
void pp_stacks_free(struct pp_stacks *stacks);

struct pp_stack *pp_stacks_root(struct pp_stacks *stacks);

/*
 * With that frame within; the same again is the same.  Of a stack that is very deep, or if there
 * are very many, all further ones are one frame, PP_STACK_REST.
 */
#define PP_STACK_REST "[deeper or further calls]"
struct pp_stack *pp_stack_child(struct pp_stacks *stacks, struct pp_stack *parent,
				const char *name);

/* Below the root: the thread's frame, or the root if threads are not to be told apart. */
struct pp_stack *pp_stacks_thread(struct pp_stacks *stacks, const struct pp_thread *thread,
				  bool no_threads);

/* With the functions at a return address within, what was inlined there too. */
struct pp_stack *pp_stack_address(struct pp_stacks *stacks, struct pp_stack *parent,
				  const struct pp_namer *namer, const struct pp_process *process,
				  uint64_t address);

/* How much is in PP_STACK_REST. */
uint64_t pp_stacks_rest(const struct pp_stacks *stacks);

/* Those with a number, in the order of their appearance; false: none has. */
bool pp_stacks_write(const struct pp_stacks *stacks, struct pp_out *out);

#endif
