/* SPDX-License-Identifier: MIT */
/*
 * The facts that the recorded runs tell about the critical sections of each lock, by the call sites
 * that enter them: the universal graph of paper 000, section 3.4, with sections merged over runs by
 * the names of their lock and site.
 *
 * Two facts are kept of each pair of sites.  *Consecutive* sections of different threads are
 * counted by class (analysis/ulcp/classify.h).  And the sites *conflict* if any section of one, in
 * any order and run, accesses bytes that one of the other writes, in another thread: only this
 * tells which sections need a common lock.  Sections whose accesses are not known conflict with
 * all.  Memory that is freed and allocated again counts as one, and a free as a write of all bytes
 * of the block.
 */
#ifndef PP_SUGGEST_FACTS_H
#define PP_SUGGEST_FACTS_H

#include "analysis/ulcp/classify.h"
#include "core/reversals.h"
#include "replay/ulcp/sections.h"

enum pp_suggest_place { PP_SUGGEST_STAYS, PP_SUGGEST_GOES_BEFORE, PP_SUGGEST_GOES_BEHIND };

/* A line of a section's function, in the section. */
struct pp_suggest_line {
	int number;
	enum pp_suggest_place place; /* where it may be moved */
	bool is_seen;		     /* it was executed in a recorded section */
};

/* A call of code without hooks, whose accesses are not recorded. */
struct pp_suggest_call {
	int line; /* of the section's function, in which it is made, directly or not */
	char *name;
};

/* The part of the sections of a site that needs the lock.  The caller sets it. */
struct pp_suggest_extent {
	GArray *lines;	       /* of struct pp_suggest_line, in order; NULL: not known */
	const char *why;       /* ... why */
	GHashTable *exits;     /* set of the lines that release the lock; NULL: not known */
	GArray *calls;	       /* of struct pp_suggest_call, each once; NULL: not known */
	const char *no_source; /* why lines are not known to be whole statements; NULL: they are */
	/* By samples: CPU time in the sections, and of it that in lines that may be moved. */
	uint64_t n_samples, all_ns, moved_ns;
};

struct pp_suggest_site {
	char *name; /* "work (a.c:12)" */
	char *exit; /* the call site that leaves its sections; NULL: not known, or several */
	uint64_t n, n_unknown; /* sections; those without known accesses */
	uint64_t n_readers;    /* those that share a read-write lock already */
	uint32_t n_runs;       /* that have such sections */
	bool reads, writes;    /* memory that several threads access in sections */
	bool has_condition;    /* its sections wait for a condition or signal one */
	/* It stores to memory, and in no run do several threads execute it: then it may conflict
	 * with itself. */
	bool stores, is_threaded;
	/* The code that accesses conflicting bytes; see pp_suggest_name. */
	GPtrArray *conflicting; /* of char *: "function (file:line)" */
	GHashTable *data;	/* set of char *: names of conflicting memory */
	struct pp_suggest_extent extent;
};

struct pp_suggest_pair {
	uint32_t a, b; /* numbers of sites; a <= b */
	uint64_t n[PP_ULCP_N_CLASSES];
	bool conflicts;
	bool is_seen; /* by accesses; else those of one of both are not known */
};

struct pp_suggest_lock {
	char *name;
	GPtrArray *sites;	    /* of struct pp_suggest_site *, by number */
	GHashTable *pairs;	    /* of struct pp_suggest_pair *, by sites */
	uint32_t n_runs, n_threads; /* threads: the most in a run */
	uint64_t n_reversed;	    /* pairs that are benign by replays of others like them */
	uint32_t n_units; /* sections that share data, the most in a run (replay/units.h) */
};

struct pp_suggest_facts {
	GPtrArray *locks; /* of struct pp_suggest_lock * */
	GHashTable *by_name;
	uint32_t n_runs;
};

/* Names of a run, which the caller finds; the results are freed. */
struct pp_suggest_namer {
	void *data;
	/*
	 * Sections of the lock that are entered at the site have accesses at that code address;
	 * with `conflicts`, of memory in which sections conflict, or which another thread frees
	 * later.  Code 0: they free such memory, at an address that is not known.  May be called
	 * several times with the same ones; NULL: the caller need not know.
	 */
	void (*access)(void *data, const struct pp_suggest_lock *lock,
		       const struct pp_suggest_site *site, uint64_t code, bool conflicts);
	char *(*code)(void *data, uint64_t address);
	char *(*memory)(void *data, uint64_t address); /* NULL: it has no name */
	const struct pp_reversals *reversals;	       /* of the run; NULL: none */
};

void pp_suggest_call_done(void *call);

void pp_suggest_facts_init(struct pp_suggest_facts *facts);
void pp_suggest_facts_done(struct pp_suggest_facts *facts);

/*
 * Adds a run.  sections: pp_ulcp_find_sections(); sets: of struct pp_replay_set, by thread and
 * step.
 */
void pp_suggest_facts_add(struct pp_suggest_facts *facts, struct pp_replay_model *model,
			  const GArray *sections, const GArray *sets,
			  const struct pp_suggest_namer *namer);

/* The pair of two sites; NULL: neither consecutive nor in conflict. */
const struct pp_suggest_pair *pp_suggest_pair_of(const struct pp_suggest_lock *lock, uint32_t a,
						 uint32_t b);

/* Pairs of the lock, of the class. */
uint64_t pp_suggest_pairs(const struct pp_suggest_lock *lock, enum pp_ulcp_class class);

#endif
