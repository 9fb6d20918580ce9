/* SPDX-License-Identifier: MIT */
/*
 * Shared by the pass that finds the critical path (critical_path.c, calls.c) and its tables
 * (rows.c, functions.c, segments.c, outside.c).
 */
#ifndef PP_PASS_CRITICAL_PATH_CRITICAL_PATH_H
#define PP_PASS_CRITICAL_PATH_CRITICAL_PATH_H

#include "analysis/graph/call_sites.h"
#include "analysis/call_stack.h"
#include "analysis/site_set.h"
#include "analysis/graph/chain.h"
#include "analysis/state/object_refs.h"
#include "analysis/state/object_state.h"

/* The sums of a chain: key = amount << AMOUNT_SHIFT | id << ID_SHIFT | mode. */
enum pp_critical_amount {
	PP_CRITICAL_IN_MODE,	 /* ns; id: the thread's serial; with the mode */
	PP_CRITICAL_HELD,	 /* ns; id: the object's number, as in the next two */
	PP_CRITICAL_CROSSINGS,	 /* number of passages of the path from a waiter to its waker */
	PP_CRITICAL_WAITED,	 /* ns that these waiters had waited */
	PP_CRITICAL_AFTER_CALL,	 /* ns; id: number of the call site; with the mode */
	PP_CRITICAL_IN_FUNCTION, /* ns; id: the function's number; with the mode */
	PP_CRITICAL_WITHIN,	 /* ns; id: number of the calling function */
	PP_CRITICAL_OUTSIDE,	 /* ns; id: number of the wait for something outside */
	PP_CRITICAL_N_OUTSIDE,	 /* number of these waits */
};

/*
 * The mode of a thread that waits for something outside of the program, with no lock held: for
 * input, a child, or time (outside.c).  It is left out of the percentages.
 */
#define PP_CRITICAL_MODE_OUTSIDE PP_N_MODES
#define PP_CRITICAL_MODES	 (PP_N_MODES + 1)

#define PP_CRITICAL_AMOUNT_SHIFT 56
#define PP_CRITICAL_ID_SHIFT	 8

/* No object: the wake-up was not caused by an operation on one. */
#define PP_CRITICAL_NO_OBJECT UINT32_MAX

/* No function: no call is known. */
#define PP_CRITICAL_NO_FUNCTION UINT32_MAX

struct pp_critical_track {
	struct pp_chain chain; /* leaf NULL: none yet */
	int64_t until_ns;      /* the chain includes all time up to here */
	guint place;
	GPtrArray *holds; /* of struct pp_object *: those that it holds */
	struct pp_object *waits_on;
	const char *outside_call; /* that the last wait for something outside was in; NULL */
	int64_t waits_since_ns;
	struct pp_call_stack stack;
	bool has_calls; /* part of its call history is available */
	/*
	 * Time since the last event other than a call is pending: it is not in the chain yet.  The
	 * calls from pending_depth on have pending own time.
	 */
	const struct pp_thread *pending; /* this thread; NULL: nothing is pending */
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
	struct pp_object_refs refs;
	GNode *chains;
	GPtrArray *tracks;  /* by serial, of struct pp_critical_track *; NULL: no event yet */
	GPtrArray *pending; /* tracks with pending time; protected by the lock of `functions` */
	struct pp_call_sites places;
	struct pp_functions functions;
	struct pp_site_set outsides; /* see outside.c */
};

static inline uint64_t pp_critical_key(enum pp_critical_amount amount, guint id, unsigned mode)
{
	return (uint64_t)amount << PP_CRITICAL_AMOUNT_SHIFT | (uint64_t)id << PP_CRITICAL_ID_SHIFT |
	       mode;
}

/*
 * Folds objects that no longer exist, except those with the most time on the paths (objects.c): at
 * the end, or whenever there are many.
 */
void pp_critical_fold_objects(struct pp_critical *self);

/* The mode of the interval's time: PP_CRITICAL_MODE_OUTSIDE, or the interval's own. */
unsigned pp_critical_mode(const struct pp_critical *self, struct pp_critical_track *track,
			  const struct pp_interval *interval);

/* Adds a wait for something outside to the thread's chain. */
void pp_critical_add_outside(struct pp_critical *self, struct pp_critical_track *track,
			     const struct pp_thread *thread, int64_t ns);

/* The number of the function that the thread executes. */
guint pp_critical_function(const struct pp_critical_track *track);

/* Accounts the time up to until_ns, at a call or return, in that mode. */
void pp_critical_run(struct pp_critical *self, struct pp_critical_track *track,
		     const struct pp_thread *thread, int64_t until_ns, enum pp_mode mode);

/* Adds the own time of active calls to the chain. */
void pp_critical_add_own(struct pp_critical_track *track);

/*
 * Adds the time up to track->until_ns to the inclusive times of the calls from that depth on, and
 * to those of their callees.  To be called before they end, or another chain branches off.
 */
void pp_critical_count_calls(const struct pp_critical *self, struct pp_critical_track *track,
			     guint depth);

/* The chain's time up to track->until_ns does not count for the active calls. */
void pp_critical_restart_calls(struct pp_critical_track *track);

/* Processes a call, a return, or a synch-event.  All time up to it must be in the chain. */
void pp_critical_follow_calls(const struct pp_critical *self, struct pp_critical_track *track,
			      const struct pp_event *event);

/* The path, and the sums from which the tables are made. */
struct pp_critical_sums {
	const struct pp_critical *critical;
	const struct pp_thread *end; /* the path leads to this thread's end */
	GArray *sums;		     /* of struct pp_chain_entry */
	int64_t length_ns, from_ns;
	int64_t outside_ns; /* part of the length */
};

static inline enum pp_critical_amount pp_critical_amount_of(const struct pp_chain_entry *entry)
{
	return (enum pp_critical_amount)(entry->key >> PP_CRITICAL_AMOUNT_SHIFT);
}

static inline guint pp_critical_id_of(const struct pp_chain_entry *entry)
{
	return (guint)(entry->key >> PP_CRITICAL_ID_SHIFT);
}

/*
 * Cell helpers: the share of a time, which does not include time outside, of the path; an added
 * time; the order of rows by a time.
 */
void pp_critical_set_share(struct pp_cell *cell, int64_t ns, const struct pp_critical_sums *path);
void pp_critical_add_time(struct pp_cell *cell, int64_t ns);
gint pp_critical_compare(const struct pp_cell *a, const struct pp_cell *b, unsigned column);
gint pp_critical_compare_inside(const struct pp_cell *a, const struct pp_cell *b, unsigned path,
				unsigned outside);

/* Text shows only the first rows, since there may be thousands. */
#define PP_CRITICAL_TEXT_ROWS 20

/* True if waits for something outside are long enough to be mentioned in text. */
bool pp_critical_is_outside_shown(const struct pp_critical_sums *path);

/* The waits for something outside; NULL: there are none. */
struct pp_table *pp_critical_outside_table(const struct pp_critical_sums *path);

/* The table of functions; requires a call history.  See functions.c. */
struct pp_table *pp_critical_functions(const struct pp_critical_sums *path);

/* The table of the path's segments in time order; see segments.c. */
void pp_critical_segments(const struct pp_critical_sums *path, GPtrArray *tables);

/* The pass's finish().  All time must be in the chains. */
void pp_critical_finish(void *state, int64_t end_ns, GPtrArray *tables);

#endif
