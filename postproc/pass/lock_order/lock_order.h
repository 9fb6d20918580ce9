/* SPDX-License-Identifier: MIT */
/* The lock-order graph between the pass that collects it (lock_order.c), the search for deadlocks
 * in it (cycles.c) and its tables (rows.c). */
#ifndef PP_PASS_LOCK_ORDER_LOCK_ORDER_H
#define PP_PASS_LOCK_ORDER_LOCK_ORDER_H

#include "analysis/graph/call_sites.h"
#include "analysis/graph/links.h"
#include "analysis/state/object_state.h"

/*
 * A link: a thread held `from` and went for `to`; both are serials of objects.  PART_HELD: what it
 * held, `from` included, and how it held that and wanted `to`.
 */
enum {
	PP_ORDER_PART_THREAD, /* its serial */
	PP_ORDER_PART_HELD_SITE,
	PP_ORDER_PART_SITE,
	PP_ORDER_PART_HELD, /* number of the set << 2 | SHARED bits */
};

#define PP_ORDER_HELD_SHARED   2u
#define PP_ORDER_WANTED_SHARED 1u

/* Who made a thread, and who waited for its end; PP_LINK_NONE: not known. */
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
	struct pp_call_sites sites;
	struct pp_links links;
	GArray *lives;	     /* by thread serial, of struct pp_order_life; may be shorter */
	GPtrArray *held;     /* by thread serial, of GArray * of struct held; NULL: nothing yet */
	GPtrArray *sets;     /* of GBytes *: uint32_t, object serial << 1 | shared, ascending */
	GHashTable *set_of;  /* GBytes * -> its number + 1 */
	uint64_t not_looked; /* pairs left out because a thread held so many */
};

enum pp_cycle_verdict {
	PP_CYCLE_DEADLOCK, /* threads can wait for each other in a circle */
	PP_CYCLE_UNDECIDED,
	PP_CYCLE_TIMED,	     /* ... if none of them gave up when its time limit is over */
	PP_CYCLE_APART,	     /* ... if one did not begin when another had ended */
	PP_CYCLE_GATED,	     /* ... if they did not always hold another lock meanwhile */
	PP_CYCLE_READERS,    /* ... if some of them did not only read */
	PP_CYCLE_FEW,	     /* ... if there were more threads that do this */
	PP_CYCLE_ONE_THREAD, /* one thread does all of it */
};

struct pp_cycle {
	enum pp_cycle_verdict verdict;
	GPtrArray *steps; /* of const struct pp_link *: one after the other; none: not found */
	uint32_t gate;	  /* serial of the object that excludes it; PP_LINK_NONE */
};

/* links: of const struct pp_link *, all between the objects of one component. */
void pp_cycle_judge(struct pp_cycle *cycle, const GPtrArray *links,
		    const struct pp_lock_order *order);
void pp_cycle_done(struct pp_cycle *cycle);

/* The pass's finish(). */
void pp_lock_order_finish(void *state, int64_t end_ns, GPtrArray *tables);

#endif
