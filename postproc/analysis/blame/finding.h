/* SPDX-License-Identifier: MIT */
/*
 * The finding: what most waits of a capture are for, and how it can be called.
 *
 * Idle waits do not count.  Objects that read alike, in any process, are one (the locks of an
 * array, mutexes initialized at one call site).  The objects with the longest waits lead, and of
 * these the leading cause:
 * - less than PP_FINDING_LEAST_PCT of the threads' lifetimes in waits: nothing is to blame;
 * - hand-over, or unknown causes, if they are at least half of the waits for these objects;
 * - else the hold, or the awaited call, with the longest waits.  Holds that began and ended at call
 *   sites with the same names are one.  A hold is named after what its thread did for most of the
 *   time; a hand-over, after the waiter if it was ready without a CPU for at least half of it.
 */
#ifndef PP_ANALYSIS_BLAME_FINDING_H
#define PP_ANALYSIS_BLAME_FINDING_H

#include "analysis/blame/blame.h"
#include "analysis/blame/meanwhile.h"

#define PP_FINDING_LEAST_PCT 1.0

enum pp_finding_kind {
	PP_FINDING_NOTHING,
	PP_FINDING_HELD,      /* its holder was running */
	PP_FINDING_PREEMPTED, /* ... ready without a CPU */
	PP_FINDING_IO,	      /* ... blocked in I/O */
	PP_FINDING_SLEEP,     /* ... blocked otherwise */
	PP_FINDING_NESTED,    /* ... blocked on another object */
	PP_FINDING_HOLDER,    /* what its holder did is not known */
	PP_FINDING_CALL,      /* the awaited call came late */
	PP_FINDING_PASSED,    /* hand-over: the waiter was not woken, or had not run yet */
	PP_FINDING_NO_CPU,    /* hand-over: the waiter was ready without a CPU */
	PP_FINDING_UNKNOWN,
	PP_N_FINDING_KINDS
};

struct pp_finding {
	enum pp_finding_kind kind;
	int64_t lifetimes_ns; /* of all threads; 0: not comparable, since waits are selected */
	int64_t all_ns;	      /* all waits */
	int64_t waits_ns;     /* those that are not idle */
	/* Not with PP_FINDING_NOTHING: */
	int64_t object_ns;		 /* of these, for the objects */
	int64_t cause_ns;		 /* of these, due to the cause */
	struct pp_blame_figures figures; /* of the cause, with idle waits */
	enum gm_sync_type type;
	uint64_t n_objects;
	char *object; /* their name */
	bool is_hold;
	enum st_event op;      /* the call to blame; ST_N_EVENTS: none */
	char *site, *acquired; /* call sites as text; NULL: not known, or none */
	unsigned why;	       /* PP_FINDING_UNKNOWN: enum pp_blame_why */
	/* In what the holder was blocked for most of the time in that mode; NULL: not known. */
	char *blocked_in[PP_N_MODES];
	/* The threads that waited for the objects: */
	unsigned n_waiters; /* 0: not known */
	char *waiter;	    /* the one with the longest waits */
	int64_t waiter_ns, waiter_lifetime_ns;
};

/*
 * To be called after the end; both have received all events.  The caller frees it.
 */
struct pp_finding *pp_finding_new(const struct pp_blame *blame,
				  const struct pp_meanwhile *meanwhile,
				  const struct pp_pass_context *context);
void pp_finding_free(struct pp_finding *finding);

/* --- in words: finding_text.c --- */

/* "held", "preempted", ...: for programs. */
const char *pp_finding_kind_name(enum pp_finding_kind kind);

/* "the lock is held too long".  The caller frees it. */
char *pp_finding_title(const struct pp_finding *finding);

/*
 * "waits are 41 % of the threads' lifetimes, and 93 % of these are for what insert() does while it
 * holds table.lock, ...".  The caller frees it.
 */
char *pp_finding_text(const struct pp_finding *finding);

#endif
