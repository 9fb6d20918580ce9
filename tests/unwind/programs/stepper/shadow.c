/* SPDX-License-Identifier: MIT */
/* The calls that a process has not returned from (shadow.h). */
#include "shadow.h"

#include <stdio.h>
#include <stdlib.h>

#define STACKS_MAX  9u
#define ENTRIES_MAX 4096u

struct entry {
	uint64_t slot;
	uint64_t address; /* to which it returns */
	uint64_t sp;	  /* a handler's frame: the interrupted %rsp; otherwise 0 */
};

struct stack {
	uint64_t start, end;
	unsigned n;
	struct entry entries[ENTRIES_MAX];
};

static struct stack stacks[STACKS_MAX];
static unsigned n_stacks;

static struct stack *stack_of(uint64_t sp)
{
	for (unsigned i = n_stacks - 1; i > 0; i--)
		if (sp > stacks[i].start && sp <= stacks[i].end)
			return &stacks[i];
	return &stacks[0];
}

static void push(uint64_t slot, uint64_t address, uint64_t sp)
{
	struct stack *stack = stack_of(slot);

	/* Left without another instruction on this stack. */
	while (stack->n > 0 && stack->entries[stack->n - 1].slot <= slot)
		stack->n--;
	if (stack->n == ENTRIES_MAX) {
		fprintf(stderr, "more than %u frames\n", ENTRIES_MAX);
		exit(1);
	}
	stack->entries[stack->n++] = (struct entry){slot, address, sp};
}

void shadow_begin(const uint64_t *addresses, unsigned n)
{
	n_stacks = 1;
	stacks[0].n = 0;
	while (n > 0)
		stacks[0].entries[stacks[0].n++] = (struct entry){UINT64_MAX, addresses[--n], 0};
}

void shadow_add_stack(uint64_t start, uint64_t end)
{
	if (n_stacks == STACKS_MAX)
		abort();
	stacks[n_stacks].start = start;
	stacks[n_stacks].end = end;
	stacks[n_stacks++].n = 0;
}

void shadow_call(uint64_t slot, uint64_t address)
{
	push(slot, address, 0);
}

void shadow_signal(uint64_t slot, uint64_t ip, uint64_t sp)
{
	push(slot, ip, sp);
}

unsigned shadow_move(uint64_t sp, uint64_t *ret_slot, uint64_t *ret_address)
{
	struct stack *stack = stack_of(sp);
	unsigned n = 0;

	*ret_slot = *ret_address = 0;
	for (; stack->n > 0 && stack->entries[stack->n - 1].slot < sp; n++) {
		*ret_slot = stack->entries[--stack->n].slot;
		*ret_address = stack->entries[stack->n].address;
	}
	return n;
}

bool shadow_same_stack(uint64_t sp, uint64_t other)
{
	return stack_of(sp) == stack_of(other);
}

bool shadow_is_new(uint64_t sp)
{
	return stack_of(sp)->n == 0;
}

static void add(struct path *path, uint64_t address, uint64_t slot)
{
	path->slots[path->n] = slot;
	path->addresses[path->n++] = address;
}

void shadow_path(uint64_t ip, uint64_t sp, struct path *ret, bool *ret_in_handler)
{
	const struct stack *stack = stack_of(sp);
	unsigned i = stack->n;

	*ret_in_handler = false;
	ret->n = 0;
	add(ret, ip + 1, 0);
	while (i > 0 && ret->n < FRAMES_MAX) {
		const struct entry *entry = &stack->entries[--i];

		if (entry->slot < sp)
			continue;
		if (entry->sp == 0) {
			add(ret, entry->address, entry->slot == UINT64_MAX ? 0 : entry->slot);
			continue;
		}
		add(ret, entry->address + 1, 0);
		*ret_in_handler = true;
		sp = entry->sp;
		if (stack_of(sp) != stack) {
			stack = stack_of(sp);
			i = stack->n;
		}
	}
}
