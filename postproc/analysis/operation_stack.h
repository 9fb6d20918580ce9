/* SPDX-License-Identifier: MIT */
/*
 * The operations that a thread waits in, the innermost last, and how one begins and returns.  It
 * knows nothing of modes: thread_state.c calls it, and changes the mode itself.
 */
#ifndef PP_ANALYSIS_OPERATION_STACK_H
#define PP_ANALYSIS_OPERATION_STACK_H

#include "core/event.h"

/* A synchronization operation; borrowed, valid during the call. */
struct pp_operation {
	const struct pp_thread *thread;
	enum st_event op; /* X, never X_begin */
	uint8_t result;	  /* means something where `finished` */
	uint32_t holder;  /* tid of the owner, as X_begin had it; 0: not known */
	uint64_t object, site, value;
	uint64_t object_era, value_era; /* core/event.h */
	const struct pp_path *path;	/* to the site; NULL: not known */
	bool waited;			/* there was an X_begin: it found the object taken */
	bool finished;			/* false: it never returned, or nobody saw it return */
	bool descheduled;		/* gave up the CPU inside, of its own accord */
	int64_t begin_ns;		/* of the wait; == end_ns where it did not wait */
	int64_t end_ns;			/* == begin_ns where nobody knows how long it waited */
	int64_t blocked_ns;		/* asleep inside */
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

/* Position of the wait that a completion or a second begin belongs to; -1: none. */
int pp_operations_find(const struct pp_operation_stack *stack, enum st_event op, uint64_t object);

/* The wait that an X_begin begins; there must be room. */
struct pp_operation *pp_operations_begin(struct pp_operation_stack *stack,
					 const struct pp_event *event);

/* The innermost will not return any more.  end_ns: until when it waited; PP_TIME_UNKNOWN. */
struct pp_operation *pp_operations_give_up(struct pp_operation_stack *stack, int64_t end_ns);

/* Of a completion without an X_begin: most do not wait.  To be completed, too. */
void pp_operation_set_immediate(struct pp_operation *operation, const struct pp_event *event);

/* It returned. */
void pp_operation_complete(struct pp_operation *operation, const struct pp_event *event);

#endif
