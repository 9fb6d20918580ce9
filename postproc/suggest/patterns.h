/* SPDX-License-Identifier: MIT */
/* clang-format off */
/*
 * Suggestions by pattern (paper 000, section 3.4), one lock at a time:
 *
 *   null-shared          no two sections conflict, and none accesses shared memory: remove the lock
 *   read-read            no two sections conflict, as shared memory is only read: the same
 *   null-shared groups   sections of some sites never conflict with those of others: split the lock;
 *                        a site whose sections conflict with none needs no lock
 *   read-read sites      sections of some sites write no shared memory: a read-write lock
 *   low-degree conflict  more than 80 % of consecutive pairs do not conflict, though some do:
 *                        reported only
 *   long section         more than 20 % of the CPU time in the sections of a site is in lines that can
 *                        be executed before the first conflicting access or after the last one, on
 *                        every path: shrink the section
 *
 * The differences to the paper: pairs are of the call sites that enter sections, not of control-flow
 * paths; sites conflict by all sections, not by consecutive ones alone; a site that writes, and that
 * a single thread executes in each run, may conflict with itself; and the length of sections is CPU
 * time, not accesses, as code computes in registers. A lock whose sections use a condition can only
 * have shorter ones at other sites, since its mutex belongs to the condition.
 */
/* clang-format on */
#ifndef PP_SUGGEST_PATTERNS_H
#define PP_SUGGEST_PATTERNS_H

#include "replay/change/change.h"
#include "suggest/facts.h"

/* More than this share of consecutive pairs must not conflict. */
#define PP_SUGGEST_LOW_DEGREE 0.8

/* More than this share of a section's CPU time must be in lines that may be moved. */
#define PP_SUGGEST_LONG_SHARE 0.2

/* Fewer samples do not tell that share. */
#define PP_SUGGEST_LEAST_SAMPLES 20

enum pp_suggest_pattern {
	PP_SUGGEST_NULL_SHARED,
	PP_SUGGEST_READ_READ,
	PP_SUGGEST_GROUPS,
	PP_SUGGEST_READERS,
	PP_SUGGEST_LOW,
	PP_SUGGEST_LONG,
	PP_SUGGEST_N_PATTERNS
};

extern const char *const pp_suggest_patterns[PP_SUGGEST_N_PATTERNS];

/* The result of replays with the change. */
struct pp_suggest_gain {
	bool is_known;
	double change_pct, error_pct; /* of the run time */
	double fidelity_pct;	      /* of the replay of the recorded run */
	bool
	    by_accesses; /* the replayed runs have accesses, so that each section's data is known */
	char *why;	 /* ... why they tell nothing */
};

struct pp_suggestion {
	const struct pp_suggest_lock *lock;
	enum pp_suggest_pattern pattern;
	GPtrArray *groups; /* of GArray * of uint32_t: numbers of sites.  PP_SUGGEST_GROUPS: that
			      need one lock each; PP_SUGGEST_READERS: the readers, alone;
			      PP_SUGGEST_LONG: the site, alone */
	GArray *free;	   /* of uint32_t: sites that need no lock */
	struct pp_suggest_gain gain; /* set by the caller */
};

/*
 * Returns suggestions (of struct pp_suggestion *) for all locks for which sections of different
 * threads were consecutive.  The facts must outlive them; the caller unrefs the array.
 */
GPtrArray *pp_suggest_find(const struct pp_suggest_facts *facts);

/* The site of a long section. */
const struct pp_suggest_site *pp_suggest_long_site(const struct pp_suggestion *suggestion);

/* Is it the suggestion to shrink the sections of this site? */
bool pp_suggest_is_long(const struct pp_suggestion *suggestion, uint32_t site);

/* Why nothing is suggested for a lock some of whose sections need not exclude each other. */
enum pp_suggest_left_out {
	PP_SUGGEST_NOT_LEFT_OUT, /* something is, or all have to */
	PP_SUGGEST_HAS_CONDITION,
	PP_SUGGEST_HIGH_DEGREE, /* too many consecutive pairs conflict for "low-degree conflict" */
	PP_SUGGEST_ONE_DATUM,	/* all sections work on the same data */
};

enum pp_suggest_left_out pp_suggest_left_out(const struct pp_suggest_lock *lock);

/*
 * The suggestion as a change of a model; without accesses, sections with low-degree conflicts take
 * one of as many locks at random as there are data.  The caller calls pp_change_free().
 */
struct pp_change *pp_suggest_change(const struct pp_suggestion *suggestion, bool has_accesses);

/* Consecutive pairs that need not exclude each other, and all that are known. */
uint64_t pp_suggest_unnecessary(const struct pp_suggest_lock *lock, uint64_t *ret_known);

#endif
