/* SPDX-License-Identifier: MIT */
/*
 * The section `conflicts` of the report: pairs of critical sections of one lock, how often
 * consecutive instances of different threads conflict, and on which variables.
 *
 * Two instances conflict if one writes bytes that the other one accesses, in the same life of these
 * bytes.  Each instance is compared with the one before it on its lock, of those whose accesses are
 * known, if that is of another thread: so the number of comparisons is that of instances.
 */
#ifndef PP_PASS_ACCESSES_CONFLICTS_H
#define PP_PASS_ACCESSES_CONFLICTS_H

#include "analysis/accesses/lives.h"
#include "analysis/accesses/overlap.h"
#include "pass/accesses/accesses.h"

/* A critical section, as code. */
struct pp_conflict_code {
	const struct pp_process *process;
	enum st_event op;
	uint64_t site;
};

struct pp_conflict_figures {
	uint64_t n;	  /* consecutive instances of different threads */
	uint64_t n_bytes; /* ... that conflict */
	uint64_t n_lines; /* ... that do not, but access a line that one of them writes */
	uint64_t n_ended; /* ... whose conflicting bytes have ended their life in between */
};

/* Two sections, in the order of their places in memory. */
struct pp_conflict_pair {
	const struct pp_conflict_code *a, *b;
	GHashTable *places; /* struct pp_conflict_place *, a set; NULL: no conflicts so far */
};

struct pp_conflict_place {
	struct pp_memory_place place;
	uint64_t n; /* conflicts on this word */
};

/* A pair on one lock. */
struct pp_conflict_part {
	struct pp_conflict_pair *pair;
	struct pp_conflict_figures figures;
};

/* The `data` of a lock. */
struct pp_conflict_lock {
	GArray *parts; /* of struct pp_conflict_part */
	/* the last instance whose accesses are known; NULL: none yet */
	const struct pp_thread *thread;
	const struct pp_conflict_code *code;
	struct pp_access_set *set; /* a reference */
	uint64_t n_freed;	   /* pp_lives_now() then */
	bool has_conflict; /* it has one with the present instance, in memory freed by that */
};

struct pp_conflict_pass {
	const struct pp_pass_context *context;
	struct pp_access_listener listener;
	struct pp_access_sections *sections;
	struct pp_overlaps *overlaps;
	struct pp_access_figures all;
	uint64_t n_same_thread; /* consecutive instances of one thread */
	GHashTable *codes;	/* a set of struct pp_conflict_code * */
	GHashTable *pairs;	/* a set of struct pp_conflict_pair * */
	GHashTable *counted;	/* a set of struct counted *: conflicts without their places */
	struct pp_blocks *blocks;
	struct pp_lives *lives;
};

/* conflict_rows.c: the tables after the end. */
void pp_conflict_tables(const struct pp_conflict_pass *self, GPtrArray *tables);

#endif
