/* SPDX-License-Identifier: MIT */
/*
 * The stack of operations that a thread waits in, innermost last.  It knows nothing of modes:
 * thread_state.c calls it, and changes the mode itself.
 */
#ifndef PP_ANALYSIS_OPERATION_STACK_H
#define PP_ANALYSIS_OPERATION_STACK_H

#include "core/event.h"

/* A synchronization operation.  Listeners borrow it during the call. */
struct pp_operation {
	const struct pp_thread *thread;
	enum st_event op; /* X, never X_begin */
	uint8_t result;	  /* valid if `finished` */
	uint32_t holder;  /* the owner's tid at X_begin, or at a failed try; 0: not known */
	uint64_t object, site, value;
	uint64_t object_load_id, value_load_id; /* core/event.h */
	uint64_t more_tries;			/* a failed try stands for so many more */
	uint64_t conditionals;			/* core/event.h; at its begin, then at its return */
	uint64_t order;				/* core/event.h */
	const struct pp_path *path;		/* up to the site; NULL: not known */
	bool waited;				/* an X_begin preceded it: the object was taken */
	bool finished;				/* false: no return was recorded */
	bool descheduled;    /* the thread gave up the CPU voluntarily during the operation */
	int64_t begin_ns;    /* of the wait; == end_ns if it did not wait */
	int64_t end_ns;	     /* == begin_ns if the length of the wait is not known */
	int64_t blocked_ns;  /* blocked during the operation */
	int64_t runnable_ns; /* selected time in it in which the thread was ready without a CPU */
};

/* Operations nest only through signal handlers. */
#define PP_OPERATION_DEPTH 4

struct pp_operation_stack {
	unsigned depth;
	struct pp_operation operations[PP_OPERATION_DEPTH];
};

/* The operation that the thread is waiting in; NULL: none. */
static inline struct pp_operation *pp_operations_innermost(struct pp_operation_stack *stack)
{
	return stack->depth ? &stack->operations[stack->depth - 1] : NULL;
}

/* The position of the wait that a completion or a second begin belongs to; -1: none. */
int pp_operations_find(const struct pp_operation_stack *stack, enum st_event op, uint64_t object);

/* Pushes the wait that an X_begin opens.  The stack must not be full. */
struct pp_operation *pp_operations_begin(struct pp_operation_stack *stack,
					 const struct pp_event *event);

/* Pops the innermost wait, which will not return. end_ns: until when it waited; PP_TIME_UNKNOWN. */
struct pp_operation *pp_operations_give_up(struct pp_operation_stack *stack, int64_t end_ns);

/*
 * Sets an operation from a completion without X_begin, as most are. pp_operation_complete() must
 * follow.
 */
void pp_operation_set_immediate(struct pp_operation *operation, const struct pp_event *event);

/* Completes the operation from its completion event. */
void pp_operation_complete(struct pp_operation *operation, const struct pp_event *event);

#endif
