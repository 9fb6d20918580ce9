/* SPDX-License-Identifier: MIT */
/*
 * Charges each wait to what caused it (paper 002, perpetrators).
 *
 * Every selected wait is divided without a rest, so that the sum over all cells is that of the
 * waits in section `locks`, to the nanosecond:
 * - a wait for a lock is charged, at each instant, to the thread that holds it, at the release that
 *   ends the hold.  Several readers that hold it share the time equally.  A reader that waits
 *   behind a queued writer is charged to the readers for which that writer waits;
 * - a semaphore is a lock for a thread that posts what it has acquired; its waiters are charged to
 *   that post, from the acquisition on;
 * - other waits are charged to the call that ended them, up to that call: a signal or broadcast, a
 *   post, the completion of an initialization, the end of a joined thread.  After a signal, the
 *   waiter waits for the mutex like for any lock;
 * - at a barrier, each waiter is charged to every thread that arrived later, for the time since the
 *   arrival before;
 * - what is left is hand-over: from the release, or the call that ended the wait, until the waiter
 *   ran;
 * - waits whose cause has no events are unknown, for a reason.  So are waits that did not end.
 *
 * An acquisition may be recorded before the release that allowed it.  The hold before then ends
 * with the acquisition (object_state.h).
 *
 * A thread that is to blame for a hold may be blocked on another object meanwhile.  This part is
 * also charged one step further, to the cause of that wait (nested).
 *
 * Memory is bounded by the number of objects that exist, of threads, and of different pairs of a
 * cause and a waiter, or of two causes.
 */
#ifndef PP_ANALYSIS_BLAME_BLAME_H
#define PP_ANALYSIS_BLAME_BLAME_H

#include "analysis/state/object_state.h"
#include "analysis/state/unknown_hold.h"

enum pp_blame_kind {
	PP_BLAME_HOLD,	   /* held the object; the call: the one that released it */
	PP_BLAME_CALL,	   /* had not made the call yet */
	PP_BLAME_HANDOVER, /* nobody; mode_ns: of the waiter */
	PP_BLAME_UNKNOWN,
	PP_N_BLAME_KINDS
};

/* Why a cause is unknown: enum pp_hold_why, and more. */
enum pp_blame_why {
	PP_BLAME_NOT_ENDED = PP_N_HOLD_WHYS, /* the thread or the recording ended during the wait */
	PP_BLAME_TIMED_OUT,		     /* no call ended the wait */
	PP_BLAME_NO_CALL,		     /* the call that ended it has no event */
	PP_BLAME_NO_RELEASE,		     /* the release of its hold has no event */
	PP_BLAME_NO_BEGIN,		     /* the begin of the wait has no event */
	PP_BLAME_NOT_FOLLOWED,		     /* nested: the wait of the holder was not followed */
	PP_N_BLAME_WHYS
};

/* The reason in words; NULL for PP_HOLD_KNOWN. */
const char *pp_blame_why_text(unsigned why);

/* A call in the program. */
struct pp_blame_call {
	enum st_event op;	    /* ST_N_EVENTS: none; the thread, or the recording, ended */
	uint64_t site;		    /* 0: not known */
	const struct pp_path *path; /* up to the site; NULL: not known */
};

struct pp_blame_cause {
	enum pp_blame_kind kind;
	unsigned why;		       /* UNKNOWN: enum pp_blame_why */
	struct pp_blame_call call;     /* HOLD, CALL */
	struct pp_blame_call acquired; /* HOLD: the call that began the hold */
};

struct pp_blame_figures {
	uint64_t n; /* number of waits; one with several causes counts for each */
	int64_t ns;
	/* Parts of ns: what the cause's thread did meanwhile; of a hand-over, the waiter. */
	int64_t mode_ns[PP_N_MODES];
};

/* The waits at one call that had one cause. */
struct pp_blame_cell {
	struct pp_blame_cause cause;
	struct pp_blame_call waiter;
	struct pp_blame_figures figures;
};

struct pp_blame;

struct pp_blame *pp_blame_new(const struct pp_pass_context *context);
void pp_blame_free(struct pp_blame *blame);
void pp_blame_event(struct pp_blame *blame, const struct pp_event *event);
void pp_blame_finish(struct pp_blame *blame, int64_t end_ns);

/*
 * After the end: calls take() for all cells of an object, one object after the other.  idle_ns: the
 * part of the cell's time that is idle; estimated if only some of its waits are.
 */
void pp_blame_walk(const struct pp_blame *blame,
		   void (*take)(void *data, const struct pp_object *object,
				const struct pp_blame_cell *cell, int64_t idle_ns),
		   void *data);

/* After the end: notes which of the selected objects exist; those without waits have no cell. */
void pp_blame_find_selected(const struct pp_blame *blame);

/*
 * Blame one step further: for ns of the time that is charged to `blamed`, a hold of `object`, its
 * thread was blocked on `other` (NULL: not known), by that cause.  For each hold that is charged,
 * the sum is its time in PP_MODE_BLOCKED_SYNC.
 */
typedef void pp_blame_take_nested(void *data, const struct pp_object *object,
				  const struct pp_blame_cause *blamed,
				  const struct pp_object *other, const struct pp_blame_cause *cause,
				  int64_t ns);
/* After the end; one object after the other. */
void pp_blame_walk_nested(const struct pp_blame *blame, pp_blame_take_nested *take, void *data);

const struct pp_thread_states *pp_blame_states(const struct pp_blame *blame);

#endif
