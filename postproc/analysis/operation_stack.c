/* SPDX-License-Identifier: MIT */
/* See operation_stack.h. */
#include "analysis/operation_stack.h"

int pp_operations_find(const struct pp_operation_stack *stack, enum st_event op, uint64_t object)
{
	for (int i = (int)stack->depth - 1; i >= 0; i--)
		if (stack->operations[i].op == op && stack->operations[i].object == object)
			return i;
	return -1;
}

struct pp_operation *pp_operations_begin(struct pp_operation_stack *stack,
					 const struct pp_event *event)
{
	struct pp_operation *operation = &stack->operations[stack->depth++];

	*operation = (struct pp_operation){
	    .thread = event->thread,
	    .op = pp_sync_completion(event->sync.op),
	    .holder = event->sync.holder,
	    .object = event->sync.object,
	    .site = event->sync.site,
	    .value = event->sync.value,
	    .object_load_id = event->sync.object_load_id,
	    .value_load_id = event->sync.value_load_id,
	    .conditionals = event->sync.conditionals,
	    .waited = true,
	    .begin_ns = event->time_ns,
	    .end_ns = event->time_ns,
	};
	return operation;
}

struct pp_operation *pp_operations_give_up(struct pp_operation_stack *stack, int64_t end_ns)
{
	struct pp_operation *operation = &stack->operations[--stack->depth];

	operation->end_ns = MAX(end_ns, operation->begin_ns);
	operation->finished = false;
	return operation;
}

/* Set field by field, since zeroing the whole structure is slower. */
void pp_operation_set_immediate(struct pp_operation *operation, const struct pp_event *event)
{
	operation->thread = event->thread;
	operation->op = event->sync.op;
	operation->holder = event->sync.holder;
	operation->more_tries = event->sync.more_tries;
	operation->object = event->sync.object;
	operation->object_load_id = event->sync.object_load_id;
	operation->site = operation->value = operation->value_load_id = 0;
	operation->waited = operation->descheduled = false;
	operation->begin_ns = event->time_ns;
	operation->blocked_ns = operation->runnable_ns = 0;
}

void pp_operation_complete(struct pp_operation *operation, const struct pp_event *event)
{
	operation->result = event->sync.result;
	operation->site = event->sync.site ? event->sync.site : operation->site;
	if (event->sync.value) {
		operation->value = event->sync.value;
		operation->value_load_id = event->sync.value_load_id;
	}
	operation->path = event->sync.path;
	operation->conditionals = event->sync.conditionals;
	operation->order = event->sync.order;
	operation->finished = true;
	operation->end_ns = event->time_ns;
}
