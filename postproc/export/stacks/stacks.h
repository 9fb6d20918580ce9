/* SPDX-License-Identifier: MIT */
/*
 * A tree of distinct stacks, each with a number.  In "folded" form each stack is a line:
 * `outermost;...;innermost NUMBER`.
 */
#ifndef PP_EXPORT_STACKS_STACKS_H
#define PP_EXPORT_STACKS_STACKS_H

#include "export/out.h"
#include "analysis/pass.h"

struct pp_stack {
	struct pp_stack *parent; /* NULL: the root, which is no frame */
	const char *name;
	unsigned depth, number; /* number: 0, 1, ... in order of appearance; the root's is 0 */
	uint64_t value;
	/* First appearance, for joining: time, and rank among those of the same time. */
	int64_t first_ns;
	uint64_t first_rank;
	struct pp_stack *joined; /* the corresponding stack of the tree that it was added to */
};

struct pp_stacks;
struct pp_export;

/* max: limit on distinct stacks; 0: a million. */
struct pp_stacks *pp_stacks_new(unsigned max);
void pp_stacks_free(struct pp_stacks *stacks);

struct pp_stack *pp_stacks_root(const struct pp_stacks *stacks);

/* By number: a stack comes after its parent, except the root, which has none. */
unsigned pp_stacks_n(const struct pp_stacks *stacks);
struct pp_stack *pp_stacks_at(const struct pp_stacks *stacks, unsigned number);

/*
 * Returns the stack extended by the frame; the same arguments give the same stack.  Beyond the
 * limits of depth and number, all further frames become the single frame PP_STACK_REST.
 */
#define PP_STACK_REST "[deeper or further calls]"
struct pp_stack *pp_stack_child(struct pp_stacks *stacks, struct pp_stack *parent,
				const char *name);

/* Like pp_stack_child(), for names whose pointers identify them. */
struct pp_stack *pp_stack_call(struct pp_stacks *stacks, struct pp_stack *parent, const char *name);

/* Call before the names passed to pp_stack_call() are freed. */
void pp_stacks_forget_names(struct pp_stacks *stacks);

/* Notes an appearance of the stack. */
static inline void pp_stack_seen(struct pp_stack *stack, int64_t time_ns, uint64_t rank)
{
	if (time_ns > stack->first_ns || (time_ns == stack->first_ns && rank >= stack->first_rank))
		return;
	stack->first_ns = time_ns;
	stack->first_rank = rank;
}

/* Adds all stacks of `from`, when both trees are complete. */
void pp_stacks_join(struct pp_stacks *stacks, const struct pp_stacks *from);

/* Sorts the stacks by first appearance, as noted by pp_stack_seen(). */
void pp_stacks_sort(struct pp_stacks *stacks);

/* Returns the thread's frame below the root, or the root if threads are merged. */
struct pp_stack *pp_stacks_thread(struct pp_stacks *stacks, const struct pp_thread *thread,
				  bool no_threads);

/* Extends the stack by the functions at a return address, including inlined ones. */
struct pp_stack *pp_stack_address(struct pp_stacks *stacks, struct pp_stack *parent,
				  const struct pp_namer *namer, const struct pp_process *process,
				  uint64_t address);

/* Like pp_stack_address(), innermost function first. */
struct pp_stack *pp_stack_address_reversed(struct pp_stacks *stacks, struct pp_stack *parent,
					   const struct pp_namer *namer,
					   const struct pp_process *process, uint64_t address);

/* Returns the sum in PP_STACK_REST. */
uint64_t pp_stacks_rest(const struct pp_stacks *stacks);

/* Writes the stacks in the exporter's format; false: none has a number. */
bool pp_export_stacks(const struct pp_export *export, const struct pp_stacks *stacks,
		      const char *unit);

#endif
