/* SPDX-License-Identifier: MIT */
/*
 * Shared by the pass that collects the lock-order graph (lock_order.c), the search for deadlocks
 * (cycles.c) and the tables (rows.c).
 */
#ifndef PP_PASS_LOCK_ORDER_LOCK_ORDER_H
#define PP_PASS_LOCK_ORDER_LOCK_ORDER_H

#include "analysis/graph/call_sites.h"
#include "analysis/graph/links.h"
#include "analysis/state/object_refs.h"
#include "analysis/state/object_state.h"

/*
 * A link: a thread held `from` and tried to acquire `to`; both are numbers of objects.  PART_HELD:
 * the set of held objects, including `from`, and whether `from` and `to` are shared.
 */
enum {
	PP_ORDER_PART_THREAD, /* the thread's serial */
	PP_ORDER_PART_HELD_SITE,
	PP_ORDER_PART_SITE,
	PP_ORDER_PART_HELD, /* number of the set << 2 | SHARED bits */
};

#define PP_ORDER_HELD_SHARED   2u
#define PP_ORDER_WANTED_SHARED 1u

/* The creator of a thread, and the thread that joined it; PP_LINK_NONE: not known. */
struct pp_order_life {
	uint32_t creator, joiner; /* serials */
	int64_t created_ns, joined_ns;
};

struct pp_lock_order {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	struct pp_object_refs refs;
	struct pp_call_sites sites;
	struct pp_links links;
	GArray *lives;	     /* by thread serial, of struct pp_order_life; may be shorter */
	GPtrArray *held;     /* by thread serial, of GArray * of struct held; NULL: none yet */
	GPtrArray *sets;     /* of GBytes *: uint32_t, object number << 1 | shared, ascending */
	GHashTable *set_of;  /* GBytes * -> its number plus 1 */
	uint64_t not_looked; /* pairs ignored because a thread held too many locks */
};

enum pp_cycle_verdict {
	PP_CYCLE_DEADLOCK, /* a deadlock is possible */
	PP_CYCLE_UNDECIDED,
	PP_CYCLE_TIMED,	     /* ... if no step gave up at its timeout */
	PP_CYCLE_APART,	     /* ... if no thread began after another had ended */
	PP_CYCLE_GATED,	     /* ... if the threads did not always hold a common lock */
	PP_CYCLE_READERS,    /* ... if some threads did not only read */
	PP_CYCLE_FEW,	     /* ... if more threads had the same steps */
	PP_CYCLE_ONE_THREAD, /* one thread makes all steps */
};

struct pp_cycle {
	enum pp_cycle_verdict verdict;
	GPtrArray *steps; /* of const struct pp_link *, in order; empty: not found */
	uint32_t gate;	  /* number of the object that prevents the deadlock; PP_LINK_NONE */
};

/* links: of const struct pp_link *, between the objects of one component. */
void pp_cycle_judge(struct pp_cycle *cycle, const GPtrArray *links,
		    const struct pp_lock_order *order);
void pp_cycle_done(struct pp_cycle *cycle);

/* The pass's finish(). */
void pp_lock_order_finish(void *state, int64_t end_ns, GPtrArray *tables);

#endif
