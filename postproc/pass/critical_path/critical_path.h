/* SPDX-License-Identifier: MIT */
/* The critical path between the pass that finds it (critical_path.c, calls.c) and its
 * tables (rows.c, functions.c). */
#ifndef PP_PASS_CRITICAL_PATH_CRITICAL_PATH_H
#define PP_PASS_CRITICAL_PATH_CRITICAL_PATH_H

#include "analysis/graph/call_sites.h"
#include "analysis/call_stack.h"
#include "analysis/graph/chain.h"
#include "analysis/state/object_state.h"

/* What a chain sums: key = amount << AMOUNT_SHIFT | id << ID_SHIFT | mode. */
enum pp_critical_amount {
	PP_CRITICAL_IN_MODE,	 /* ns; id: the thread's serial; with the mode */
	PP_CRITICAL_HELD,	 /* ns; id: the object's serial, as in the next two */
	PP_CRITICAL_CROSSINGS,	 /* times the path goes from one who waited to who woke it */
	PP_CRITICAL_WAITED,	 /* ns that those had waited by then */
	PP_CRITICAL_AFTER_CALL,	 /* ns; id: number of the place */
	PP_CRITICAL_IN_FUNCTION, /* ns; id: its number; with the mode */
	PP_CRITICAL_WITHIN,	 /* ns; id: number of the function that it was called from */
};

#define PP_CRITICAL_AMOUNT_SHIFT 56
#define PP_CRITICAL_ID_SHIFT	 8

/* In place of an object: a wake-up that was not about any. */
#define PP_CRITICAL_NO_OBJECT UINT32_MAX

/* In place of a function: no call is known. */
#define PP_CRITICAL_NO_FUNCTION UINT32_MAX

struct pp_critical_track {
	struct pp_chain chain; /* leaf NULL: it has none yet */
	int64_t until_ns;      /* what is in it */
	guint place;
	GPtrArray *holds; /* of struct pp_object * */
	struct pp_object *waits_on;
	int64_t waits_since_ns;
	struct pp_call_stack stack;
	bool has_calls; /* the history has some of it */
	/*
	 * What it did between calls, and nothing else happened meanwhile, is not in the chain yet:
	 * since then, in that mode.  The own time of calls is theirs, from that depth on.
	 */
	const struct pp_thread *pending; /* it; NULL: all is in the chain */
	int64_t pending_ns;
	enum pp_mode pending_mode;
	guint pending_depth;
};

struct pp_critical {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	GNode *chains;
	GPtrArray *tracks;  /* by serial, of struct pp_critical_track *; NULL: not seen */
	GPtrArray *pending; /* those with something that is; under the lock of the functions */
	struct pp_call_sites places;
	struct pp_functions functions;
};

static inline uint64_t pp_critical_key(enum pp_critical_amount amount, guint id, unsigned mode)
{
	return (uint64_t)amount << PP_CRITICAL_AMOUNT_SHIFT | (uint64_t)id << PP_CRITICAL_ID_SHIFT |
	       mode;
}

/* Number of the function that the thread is in. */
guint pp_critical_function(const struct pp_critical_track *track);

/* What the thread did up to then, when it calls or returns, was in that mode. */
void pp_critical_run(struct pp_critical *self, struct pp_critical_track *track,
		     const struct pp_thread *thread, int64_t until_ns, enum pp_mode mode);

/* That of the calls that go on is put into the chain. */
void pp_critical_put_own(struct pp_critical_track *track);

/*
 * Puts down the time up to track->until_ns to the calls from that depth on, and to what they
 * called.  To be done before they end, or another chain branches off.
 */
void pp_critical_count_calls(const struct pp_critical *self, struct pp_critical_track *track,
			     guint depth);

/* What is in the chain up to track->until_ns was not done by the calls that go on. */
void pp_critical_restart_calls(struct pp_critical_track *track);

/* A call, a return, or a synch-event, up to which all time is in the chain. */
void pp_critical_follow_calls(const struct pp_critical *self, struct pp_critical_track *track,
			      const struct pp_event *event);

/* The path, and what the tables make of it. */
struct pp_critical_sums {
	const struct pp_critical *critical;
	const struct pp_thread *end; /* the thread whose end it leads to */
	GArray *sums;		     /* of struct pp_chain_entry */
	int64_t length_ns, from_ns;
};

static inline enum pp_critical_amount pp_critical_amount_of(const struct pp_chain_entry *entry)
{
	return (enum pp_critical_amount)(entry->key >> PP_CRITICAL_AMOUNT_SHIFT);
}

static inline guint pp_critical_id_of(const struct pp_chain_entry *entry)
{
	return (guint)(entry->key >> PP_CRITICAL_ID_SHIFT);
}

/* What rows are made with: a time's share of the path, a time added, the order by a time. */
void pp_critical_set_share(struct pp_cell *cell, int64_t ns, const struct pp_critical_sums *path);
void pp_critical_add_time(struct pp_cell *cell, int64_t ns);
gint pp_critical_compare(const struct pp_cell *a, const struct pp_cell *b, unsigned column);

/* The rest is seldom of interest, and there may be thousands. */
#define PP_CRITICAL_TEXT_ROWS 20

/* Of a capture with a history of calls; functions.c. */
struct pp_table *pp_critical_functions(const struct pp_critical_sums *path);

/* The path itself, in order of time; segments.c. */
void pp_critical_segments(const struct pp_critical_sums *path, GPtrArray *tables);

/* The pass's finish(), when all time is in the chains. */
void pp_critical_finish(void *state, int64_t end_ns, GPtrArray *tables);

#endif
