/* SPDX-License-Identifier: MIT */
/*
 * Stacks that are told apart, as a tree, each with a number: "folded" is one line for each,
 * `outermost;...;innermost NUMBER`.
 */
#ifndef PP_EXPORT_STACKS_STACKS_H
#define PP_EXPORT_STACKS_STACKS_H

#include "export/out.h"
#include "analysis/pass.h"

struct pp_stack {
	struct pp_stack *parent; /* NULL: this is the root, no frame */
	const char *name;
	unsigned depth, number; /* number: 0, 1, ... in order of appearance, the root's is 0 */
	uint64_t value;
	/* When it first appeared, where stacks are joined: time, and rank among those of one. */
	int64_t first_ns;
	uint64_t first_rank;
	struct pp_stack *joined; /* the same among those that it was added to */
};

struct pp_stacks;
struct pp_export;

/* max: so many are told apart; 0: a million. */
struct pp_stacks *pp_stacks_new(unsigned max);
void pp_stacks_free(struct pp_stacks *stacks);

struct pp_stack *pp_stacks_root(const struct pp_stacks *stacks);

/* By number: a stack comes after the one that it is in; but for the root, which has no parent. */
unsigned pp_stacks_n(const struct pp_stacks *stacks);
struct pp_stack *pp_stacks_at(const struct pp_stacks *stacks, unsigned number);

/*
 * With that frame within; the same again is the same.  Of a stack that is very deep, or if there
 * are very many, all further ones are one frame, PP_STACK_REST.
 */
#define PP_STACK_REST "[deeper or further calls]"
struct pp_stack *pp_stack_child(struct pp_stacks *stacks, struct pp_stack *parent,
				const char *name);

/* The same for names that stay where they are: they are known by that. */
struct pp_stack *pp_stack_call(struct pp_stacks *stacks, struct pp_stack *parent, const char *name);

/* The names that pp_stack_call() was given so far need not stay any more. */
void pp_stacks_forget_names(struct pp_stacks *stacks);

/* It appeared then. */
static inline void pp_stack_seen(struct pp_stack *stack, int64_t time_ns, uint64_t rank)
{
	if (time_ns > stack->first_ns || (time_ns == stack->first_ns && rank >= stack->first_rank))
		return;
	stack->first_ns = time_ns;
	stack->first_rank = rank;
}

/* Adds all of `from`; when both are whole. */
void pp_stacks_join(struct pp_stacks *stacks, const struct pp_stacks *from);

/* Puts them in the order of their first appearance, as pp_stack_seen() was told. */
void pp_stacks_sort(struct pp_stacks *stacks);

/* Below the root: the thread's frame, or the root if threads are not to be told apart. */
struct pp_stack *pp_stacks_thread(struct pp_stacks *stacks, const struct pp_thread *thread,
				  bool no_threads);

/* With the functions at a return address within, what was inlined there too. */
struct pp_stack *pp_stack_address(struct pp_stacks *stacks, struct pp_stack *parent,
				  const struct pp_namer *namer, const struct pp_process *process,
				  uint64_t address);

/* The same from the inside out. */
struct pp_stack *pp_stack_address_reversed(struct pp_stacks *stacks, struct pp_stack *parent,
					   const struct pp_namer *namer,
					   const struct pp_process *process, uint64_t address);

/* How much is in PP_STACK_REST. */
uint64_t pp_stacks_rest(const struct pp_stacks *stacks);

/* Those with a number, in the order of their appearance; false: none has. */
bool pp_stacks_write(const struct pp_stacks *stacks, struct pp_out *out);

/* Writes the stacks in the exporter's format; false: none has a number. */
bool pp_export_stacks(const struct pp_export *export, const struct pp_stacks *stacks,
		      const char *unit);

#endif
